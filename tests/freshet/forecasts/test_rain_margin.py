"""`freshet rain-margin`: how much rain takes flow to each level."""

from tests.freshet.conftest import Freshet

ASKED = ("rain-margin", "SYNTH-01", "--units", "mm/day")


def test_the_margins_of_the_latest_forecast_are_those_of_the_api(worked: Freshet) -> None:
    worked("forecast", "--basin", "SYNTH-01", "--t0", "2004-03-10")
    shown = worked(*ASKED, "--discharge", "4.5", "--json")
    (level,) = shown.json["levels"]
    assert shown.code == 0
    assert (level["discharge"], len(level["windows"])) == (4.5, 9)
    assert {window["status"] for window in level["windows"]} <= {"needs-rain", "already-above", "not-reached"}
    table = worked(*ASKED, "--discharge", "4.5").out
    assert f"Rain that takes SYNTH-01 to each level, run {shown.json['run']}" in table
    assert len(table.splitlines()) == 11


def test_a_run_without_a_response_states_why(worked: Freshet) -> None:
    (run,) = worked("forecast", "--basin", "SYNTH-01", "--weather", "dry", "--json").json["runs"]
    shown = worked(*ASKED, "--run", run["run"])
    assert (shown.code, "Only an operational run computes" in shown.err) == (0, True)


def test_a_level_that_cannot_be_is_refused(worked: Freshet) -> None:
    assert worked(*ASKED, "--discharge", "-1").code == 2
    assert worked("rain-margin", "SYNTH-01", "--run", "none").code == 3
