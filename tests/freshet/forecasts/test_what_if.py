"""`freshet what-if`: a forecast with other weather, or with more or less water in the basin at T0."""

import pytest

from tests.freshet.conftest import Freshet

ASKED = ("what-if", "--basin", "SYNTH-01", "--t0", "2004-04-10")


def test_the_run_and_its_base_are_reported_and_the_latest_forecast_stays(worked: Freshet) -> None:
    before = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"]
    printed = worked(*ASKED, "--increment-mm", "10", "--storm-mm", "30", "--storm-lead", "2", "--note", "why", "--json")
    assert printed.code == 0
    (done,) = printed.json["runs"]
    run = worked("runs", done["run"], "--json").json
    assert (run["what_if"]["base"], run["what_if"]["note"]) == (done["base"], "why")
    assert (run["what_if"]["storm"], run["what_if"]["increment"]["mm"]) == ({"mm": 30.0, "lead": 2}, 10.0)
    balance = worked("runs", done["run"], "--basin", "SYNTH-01", "--json").json["water_balance"]
    assert balance["mean"]["increment"] == 10.0
    runs = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"]
    assert [created["purpose"] for created in runs[: len(runs) - len(before)]] == ["what-if", "what-if"]
    shown = " ".join(worked("runs", run["id"]).err.split())
    changes = "a storm of 30 mm 2 days after T0; 10 mm more water in the basin at T0"
    assert f"What-if run, not a forecast: {changes}." in shown


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--degrees", "30"], 2, "--degrees: "),
        (["--storm-mm", "30", "--storm-lead", "20"], 2, "beyond the horizon of 10"),
        (["--storm-lead", "2"], 2, "--storm-mm: it is needed"),
        (["--increment-mm", "-2000"], 4, "less than the 2000 mm that are to be taken away"),
    ],
)
def test_an_impossible_what_if_is_refused(worked: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    printed = worked(*ASKED, *arguments)
    assert (printed.code, sentence in " ".join(printed.err.split())) == (code, True)
