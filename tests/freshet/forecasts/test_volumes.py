"""`freshet volumes`: how much water a season brings."""

import pytest

from tests.freshet.conftest import Freshet

SPRING = ("--basin", "SYNTH-01", "--season", "04-01..05-31", "--t0", "2004-04-10")


def test_the_volume_of_a_season_is_reported_and_the_latest_forecast_stays(worked: Freshet) -> None:
    before = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"]

    result = worked("volumes", *SPRING, "--json")
    table = " ".join(worked("volumes", *SPRING).out.split())

    shown = result.json["basins"]["SYNTH-01"]
    assert result.code == 0
    assert result.json["exceeded_percent"] == [10, 30, 50, 70, 90]
    assert (shown["season"], shown["period"]) == ("04-01..05-31", "2004-04-01..2004-05-31")
    assert (shown["ahead"], shown["observed_missing_days"]) == ("2004-04-11..2004-05-31", 0)
    assert shown["raw_mm"] == sorted(shown["raw_mm"], reverse=True)
    assert shown["raw_mm"][-1] > shown["observed_mm"] > 0
    assert "has no error model" in shown["missing"]["calibrated"]
    assert "and a normal takes 10 of them" in shown["missing"]["normal"]
    assert shown["missing"]["calibrated"] in result.err
    assert "SYNTH-01 2004-04-01..2004-05-31 2004-04-10" in table
    runs = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"]
    assert [run["purpose"] for run in runs[: len(runs) - len(before)]] == ["on-request", "on-request"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["--season", "spring"], 2, "write MM-DD..MM-DD"),
        (["--t0", "1999-01-01"], 4, "T0 1999-01-01 is outside the synthetic record"),
        (["--basin", "01013500"], 3, "No basin 'USGS-01013500' is stored here"),
        (["--version", "none"], 3, "No model version 'none' is stored here"),
    ],
)
def test_a_volume_that_cannot_be_computed_is_reported(
    worked: Freshet, arguments: list[str], code: int, sentence: str
) -> None:
    result = worked("volumes", *arguments, "--json")

    assert result.code == code
    assert sentence in result.json["problem"]["detail"]
