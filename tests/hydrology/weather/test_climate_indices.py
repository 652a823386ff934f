import numpy as np
import numpy.typing as npt
import pytest

from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem
from hydrology.weather.climate import climate_indices, net_radiation, priestley_taylor, seasonality

DAYS = Period.parse("2001-01-01..2004-12-31").days
PHASE = 2 * np.pi * (DAYS - DAYS[0]).astype(float) / 365.25
Array = npt.NDArray[np.float64]


def test_hand_computed() -> None:
    rain = np.zeros(len(DAYS))
    january = np.flatnonzero(DAYS.astype("datetime64[M]").astype(int) % 12 == 0)
    rain[january] = 2.0  # 31 wet days a year, in one spell, far above five times the mean
    temperature = np.where(DAYS.astype("datetime64[M]").astype(int) % 24 == 0, -1.0, 10.0)
    indices = climate_indices(rain, temperature, np.full(len(DAYS), 1.5), DAYS)
    assert indices.p_mean == pytest.approx(4 * 31 * 2 / len(DAYS))
    assert indices.pet_mean == 1.5
    assert indices.aridity == pytest.approx(1.5 / indices.p_mean)
    assert indices.frac_snow == pytest.approx(0.5)
    assert indices.high_prec_freq == pytest.approx(31)
    assert indices.high_prec_dur == 31
    assert indices.low_prec_freq == pytest.approx(365.25 - 31)
    assert indices.low_prec_dur == pytest.approx((len(DAYS) - 4 * 31) / 4)
    assert (indices.high_prec_timing, indices.p_seasonality < 0) == ("djf", True)


@pytest.mark.parametrize(("lag", "expected"), [(0.0, 0.6), (np.pi, -0.6), (np.pi / 2, 0.0)])
def test_seasonality_is_the_swing_of_rain_in_step_with_the_warm_season(lag: float, expected: float) -> None:
    rain = 3 * (1 + 0.6 * np.sin(PHASE - 1 - lag))
    assert seasonality(rain, 8 + 12 * np.sin(PHASE - 1), DAYS) == pytest.approx(expected, abs=1e-3)


def test_a_climate_without_high_rain_has_none() -> None:
    ones = np.ones(len(DAYS))
    indices = climate_indices(ones, 10 * ones, ones, DAYS)
    assert (indices.high_prec_freq, indices.high_prec_dur, indices.high_prec_timing) == (0, 0, None)
    assert (indices.low_prec_freq, indices.low_prec_timing) == (0, None)
    assert indices.p_seasonality == pytest.approx(0, abs=1e-9)


def test_missing_days_and_no_rain_are_refused() -> None:
    ones = np.ones(len(DAYS))
    gappy = np.where(np.arange(len(DAYS)) == 3, np.nan, ones)
    with pytest.raises(DataProblem, match="missing"):
        climate_indices(gappy, ones, ones, DAYS)
    with pytest.raises(DataProblem, match="precipitation"):
        climate_indices(0 * ones, ones, ones, DAYS)


def test_net_radiation_is_that_of_the_published_example() -> None:
    # Rio de Janeiro in May, Allen et al. 1998, examples 11 and 12: 7.6, of a clear-sky radiation of 18.8 MJ/m2/day.
    radiation, above, tmax, tmin, vapour = (np.array([value]) for value in (14.5, 18.8 / 0.75, 25.1, 19.1, 2100.0))
    assert net_radiation(radiation, above, tmax, tmin, vapour, 0.0) == pytest.approx(7.6, abs=0.1)


def test_evapotranspiration_of_priestley_and_taylor_has_the_published_slope_and_psychrometric_constant() -> None:
    # Allen et al. 1998, annex 2: at 20 degC 0.1447 kPa/degC, and 0.054 kPa/degC at 1800 m.
    found = priestley_taylor(np.array([10.0, -1.0]), np.array([20.0, 20.0]), 1800.0)
    assert found == pytest.approx([1.26 * 0.1447 / (0.1447 + 0.054) * 10 / 2.45, 0], rel=5e-3)
