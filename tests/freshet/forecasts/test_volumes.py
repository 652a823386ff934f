"""`freshet volumes`: how much water a season brings."""

import pytest

from tests.freshet.conftest import Freshet

SPRING = ("--basin", "SYNTH-01", "--season", "04-01..05-31", "--t0", "2004-04-10")


def test_the_volume_of_a_season_is_reported_and_the_latest_forecast_stays(worked: Freshet) -> None:
    before = worked("runs", "--basin", "SYNTH-01", "--json").json["runs"]

    result = worked("volumes", *SPRING, "--json")
    shown = worked("volumes", *SPRING)

    assert (result.code, [run["status"] for run in result.json["runs"]]) == (0, ["issued"])
    assert "has no error model" in shown.err
    assert "and a normal takes 10 of them" in shown.err
    assert "SYNTH-01 2004-04-01..2004-05-31 2004-04-10" in " ".join(shown.out.split())
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
