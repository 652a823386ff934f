"""`freshet volumes`: how much water a season brings."""

import pytest

from tests.freshet.conftest import Freshet

SPRING = ("--basin", "SYNTH-01", "--season", "04-01..05-31", "--t0", "2004-04-10")


def test_the_volume_of_a_season_is_told_and_the_latest_forecast_stays(worked: Freshet) -> None:
    before = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"]

    said = worked("volumes", *SPRING, "--json")
    table = " ".join(worked("volumes", *SPRING).out.split())

    told = said.json["basins"]["SYNTH-01"]
    assert said.code == 0
    assert said.json["exceeded_percent"] == [10, 30, 50, 70, 90]
    assert (told["season"], told["period"]) == ("04-01..05-31", "2004-04-01..2004-05-31")
    assert (told["ahead"], told["observed_missing_days"]) == ("2004-04-11..2004-05-31", 0)
    assert told["raw_mm"] == sorted(told["raw_mm"], reverse=True)
    assert told["raw_mm"][-1] > told["observed_mm"] > 0
    assert "has no error model" in told["missing"]["calibrated"]
    assert "and a normal takes 10 of them" in told["missing"]["normal"]
    assert told["missing"]["calibrated"] in said.err
    assert "SYNTH-01 2004-04-01..2004-05-31 2004-04-10" in table
    runs = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"]
    assert [run["purpose"] for run in runs[: len(runs) - len(before)]] == ["on-request", "on-request"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--season", "spring"], 2, "write MM-DD..MM-DD"),
        (["--t0", "1999-01-01"], 4, "T0 1999-01-01 is outside the synthetic record"),
        (["--basin", "01013500"], 3, "No basin 'USGS-01013500' is kept here"),
        (["--version", "none"], 3, "No model version 'none' is kept here"),
    ],
)
def test_what_cannot_be_told_is_said(worked: Freshet, arguments: list[str], code: int, sentence: str) -> None:
    said = worked("volumes", *arguments, "--json")

    assert said.code == code
    assert sentence in said.json["problem"]["detail"]
