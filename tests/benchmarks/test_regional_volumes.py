"""How volumes are judged, without the data."""

import numpy as np
import pytest

from benchmarks.regional.data import TEST
from benchmarks.regional.seasonal.volumes import ISSUES, LEADS, RIVALS, SNOW_ISSUES, Verdicts, issues_of
from hydrology.base.calendar import Period
from hydrology.climatology.volumes import MELT
from hydrology.uncertainty.error_model import LEVELS


def judged(widths: dict[str, float], years: int = 6) -> Verdicts:
    """Return forecasts of two basins, centred where what comes is, of different widths."""
    chance, verdicts = np.random.default_rng(0), Verdicts()
    centred = np.asarray(LEVELS) - 0.5
    for year in range(years):
        for basin, scale in (("wet", 100.0), ("dry", 1.0)):
            for _ in range(50):
                centre = 2 + 0.1 * year
                quantiles = {name: scale * (centre + widths[name] * centred) for name in RIVALS}
                verdicts.add(basin, 1990 + year, scale * (centre + chance.uniform(-0.5, 0.5)), quantiles, scale)
    return verdicts


def test_an_interval_has_its_nominal_coverage_and_basins_count_equally() -> None:
    figures = judged({"calibrated": 1.0, "raw": 0.2, "climatology": 3.0}).figures()
    assert (figures["forecasts"], figures["basins"]) == (600, 2)
    assert figures["calibrated"]["coverage_90"]["value"] == pytest.approx(0.9, abs=0.03)
    assert figures["calibrated"]["coverage_50"]["value"] == pytest.approx(0.5, abs=0.05)
    assert figures["raw"]["coverage_90"]["value"] < 0.3
    assert figures["calibrated"]["crpss"]["value"] > 0.2
    assert figures["climatology"]["crpss"] == {"value": 0.0, "interval": (0.0, 0.0)}
    low, high = figures["calibrated"]["crpss"]["interval"]
    assert low < figures["calibrated"]["crpss"]["value"] < high
    assert figures["calibrated"]["crps"] < 1


def test_all_scored_days_lie_in_the_test_years() -> None:
    test = Period.parse(TEST)
    days = issues_of(ISSUES, LEADS[-1])
    melt = issues_of(SNOW_ISSUES, None)
    assert (len(days), len(melt)) == (39, 30)
    for issue in (*days, *melt):
        assert test.overlap(issue.ahead) == issue.ahead
    assert all(issue.ahead.last == MELT.after(issue.t0).last for issue in melt)
    assert [issue.t0 for issue in melt] == sorted(issue.t0 for issue in melt)
