"""`freshet replay`: issue days of the past, as if each were today."""

from tests.freshet.conftest import Freshet


def test_replayed_issue_days_are_marked_as_perturbed(worked: Freshet) -> None:
    done = worked("replay", "--from", "2005-04-02", "--to", "2005-04-03", "--traces", "2", "--json")
    assert done.code == 0
    assert done.json["runs"] == 2
    runs = worked("runs", "--limit", "2", "--json", FRESHET_AS_OF="2005-04-03T15:00:00Z").json["runs"]
    assert [(run["t0"], run["weather"]["source"]) for run in runs] == [
        ("2005-04-01", "perturbed-observations"),
        ("2005-03-31", "perturbed-observations"),
    ]
    assert "perturbed" in worked("runs", runs[0]["id"]).err
    assert (
        "0 runs on 2 issue days" in worked("replay", "--from", "2005-04-02", "--to", "2005-04-03", "--traces", "2").out
    )


def test_an_issue_day_after_the_clock_or_a_latency_that_makes_all_stale_is_refused(worked: Freshet) -> None:
    period = ("replay", "--from", "2005-04-02", "--to", "2005-04-03")
    result = worked(*period, FRESHET_AS_OF="2005-04-03T13:00:00Z")
    assert (result.code, "is in the future" in result.err) == (2, True)
    assert worked(*period, "--latency", "3").code == 2
