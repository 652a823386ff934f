"""`freshet changes` and `freshet errors`: why a forecast changed, and what went wrong."""

import pytest

from tests.freshet.conftest import Freshet

BASIN = "SYNTH-01"
ASKED = ("--basin", BASIN, "--horizon", "3")


def test_the_change_since_the_previous_forecast_is_shown(worked: Freshet) -> None:
    for t0 in ("2005-03-10", "2005-03-11"):
        issued = worked("forecast", *ASKED, "--t0", t0, "--weather", "climatology", "--json")
    (run,) = (one["run"] for one in issued.json["runs"])
    result = worked("changes", BASIN, "--run", run, "--units", "mm/day", "--json")
    assert result.code == 0
    assert result.json["time"] == ["2005-03-12", "2005-03-13"]
    parts = [column for column in result.json["parts"].values() if column is not None]
    assert [sum(of_day) for of_day in zip(*parts, strict=True)] == pytest.approx(result.json["change"])
    text = worked("changes", BASIN, "--run", run)
    assert "since the forecast of 10 March" in text.out
    assert "observed weather" in text.out
    assert "parts.observed_flow is not known" in text.err
    assert worked("changes", "SYNTH-99").code == 3


def test_the_worst_forecasts_are_listed(worked: Freshet) -> None:
    empty = worked("errors", "--season", "JJA")
    assert empty.code == 0
    assert "freshet verify" in empty.err
    assert worked("forecast", *ASKED, "--t0", "2005-05-10", "--weather", "climatology").code == 0
    assert worked("verify").code == 0
    result = worked("errors", "--basin", BASIN, "--season", "MAM", "--of", "peak", "--json")
    (case, *_) = result.json["cases"]
    assert (case["t0"], case["basin"]) == ("2005-05-10", BASIN)
    peak = case["peak"]
    assert peak["weather"] + peak["initial_state"] + peak["network"] == pytest.approx(peak["error"])
    assert "initial state" in worked("errors").out
