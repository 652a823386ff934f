"""Peak scores against hand-computed hydrographs and neuralhydrology."""

import warnings

import numpy as np
import numpy.typing as npt
import pytest

from hydrology.base.calendar import day
from hydrology.scores.scores import missed_peaks, peak_mape, peak_timing

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import neuralhydrology.evaluation.metrics as neural
    import xarray

Array = npt.NDArray[np.float64]

AT = (60, 200, 340, 480)


def hydrograph(*peaks: float, height: float = 10.0, days: int = 560) -> Array:
    """Smooth floods at the given days on a low base."""
    time = np.arange(days)[:, np.newaxis]
    floods: Array = height * np.exp(-(((time - np.array(peaks)) / 4) ** 2))
    flow: Array = 1 + floods.sum(axis=1)
    return flow


def test_timing_is_the_mean_lag_of_the_maximum() -> None:
    simulated = hydrograph(60, 201, 338, 483)
    score = peak_timing(simulated, hydrograph(*AT))
    assert score.value == pytest.approx((0 + 1 + 2 + 3) / 4)
    assert score.n == 4


def test_a_lag_beyond_the_window_counts_as_its_edge() -> None:
    assert peak_timing(hydrograph(*(at + 9 for at in AT)), hydrograph(*AT)).value == 3


def test_a_peak_beside_a_gap_or_an_end_is_not_judged() -> None:
    observed, simulated = hydrograph(2, *AT), hydrograph(2, 60, 202, 340, 480)
    assert peak_timing(simulated, observed).n == 4
    observed[202] = np.nan
    assert peak_timing(simulated, observed).value == 0
    assert peak_timing(simulated, observed).n == 3


def test_days_that_were_left_out_are_gaps_too() -> None:
    observed, simulated = hydrograph(*AT), hydrograph(61, 200, 340, 480)
    stored = np.ones(len(observed), dtype=bool)
    stored[58] = False
    days = day("2000-01-01") + np.arange(len(observed))
    assert peak_timing(simulated[stored], observed[stored], days=days[stored]).value == 0
    assert peak_timing(simulated, observed, days=days).value == 0.25


def test_missed_peaks_is_the_share_without_a_simulated_peak_within_a_day() -> None:
    score = missed_peaks(hydrograph(61, 199, 342, 440), hydrograph(*AT))
    assert (score.value, score.n) == (0.5, 4)


def test_a_simulation_without_peaks_misses_them_all() -> None:
    flat = np.ones(560)
    assert missed_peaks(flat, hydrograph(*AT)).value == 1
    assert str(peak_timing(flat, hydrograph(*AT)).reason) == "The simulation is constant."


def test_peak_error_is_relative_to_the_observed_peak() -> None:
    observed = hydrograph(*AT)
    assert peak_mape(0.8 * observed, observed).value == pytest.approx(20)
    assert peak_mape(1.3 * observed, observed).value == pytest.approx(30)


@pytest.mark.parametrize("score", [peak_timing, missed_peaks, peak_mape])
def test_without_peaks_there_is_a_reason(score: object) -> None:
    assert callable(score)
    rising = np.arange(300.0)
    result = score(rising, rising)
    assert (result.value, result.n) == (None, 0)
    assert "no peak" in str(result.reason)


# What neuralhydrology asks of xarray, and xarray of pandas, is about to be dropped.
@pytest.mark.filterwarnings("ignore:Behaviour of argmin/argmax:FutureWarning")
@pytest.mark.filterwarnings("ignore:The 'name' property is deprecated")
@pytest.mark.parametrize("seed", range(5))
def test_against_neuralhydrology(seed: int) -> None:
    rng = np.random.default_rng(seed)
    observed = hydrograph(*AT, height=10 + seed)
    simulated = hydrograph(*(np.array(AT) + rng.integers(-3, 4, 4)), height=8)
    time = np.datetime64("2000-01-01", "ns") + np.arange(len(observed)) * np.timedelta64(1, "D")
    obs, sim = (xarray.DataArray(v, coords={"date": time}, dims="date") for v in (observed, simulated))
    assert peak_timing(simulated, observed).value == pytest.approx(neural.mean_peak_timing(obs, sim))
    assert missed_peaks(simulated, observed).value == pytest.approx(neural.missed_peaks(obs, sim))
    theirs = neural.mean_absolute_percentage_peak_error(obs, sim)
    assert peak_mape(simulated, observed).value == pytest.approx(theirs)
