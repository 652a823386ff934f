import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.errors import InvalidInput
from hydrology.base.units import (
    Area,
    cfs_to_m3s,
    cfs_to_mm_per_day,
    converted,
    daylight_mean,
    m3s_to_cfs,
    m3s_to_mm_per_day,
    mm_per_day_to_cfs,
    mm_per_day_to_m3s,
    to_mm_per_day,
    vapour_pressure,
)

SQUARE_KILOMETRE = Area("area_gages2", 1e6)


def test_known_amounts() -> None:
    assert cfs_to_m3s(1) == pytest.approx(0.3048**3, rel=1e-15)
    assert m3s_to_mm_per_day(1, area=SQUARE_KILOMETRE) == pytest.approx(86.4, rel=1e-15)
    assert cfs_to_mm_per_day(1, area=SQUARE_KILOMETRE) == pytest.approx(2.4465755455488, rel=1e-14)


@given(st.floats(0, 1e7), st.floats(1e4, 1e12))
def test_every_conversion_goes_back(flow: float, m2: float) -> None:
    area = Area("maurer", m2)
    assert m3s_to_cfs(cfs_to_m3s(flow)) == pytest.approx(flow, rel=1e-14)
    assert mm_per_day_to_m3s(m3s_to_mm_per_day(flow, area=area), area=area) == pytest.approx(flow, rel=1e-14)
    assert mm_per_day_to_cfs(cfs_to_mm_per_day(flow, area=area), area=area) == pytest.approx(flow, rel=1e-14)


def test_missing_stays_missing_and_single_precision_is_widened() -> None:
    converted = cfs_to_m3s(np.array([1, np.nan], dtype=np.float32))
    assert converted.dtype == np.float64
    assert np.isnan(converted).tolist() == [False, True]


def test_the_source_unit_chooses_the_conversion() -> None:
    flow = np.array([3.0])
    assert to_mm_per_day(flow, unit="cfs", area=SQUARE_KILOMETRE) == cfs_to_mm_per_day(3, area=SQUARE_KILOMETRE)
    assert to_mm_per_day(flow, unit="m3/s", area=SQUARE_KILOMETRE) == m3s_to_mm_per_day(3, area=SQUARE_KILOMETRE)
    assert to_mm_per_day(flow, unit="mm/day", area=SQUARE_KILOMETRE) == 3
    with pytest.raises(InvalidInput, match="cfs, m3/s or mm/day"):
        to_mm_per_day(flow, unit="acre-ft", area=SQUARE_KILOMETRE)


@pytest.mark.parametrize("unit", ["cfs", "m3/s", "mm/day"])
@pytest.mark.parametrize("into", ["cfs", "m3/s", "mm/day"])
def test_every_unit_is_converted_into_every_other(unit: str, into: str) -> None:
    depth = to_mm_per_day([3.0, np.nan], unit=unit, area=SQUARE_KILOMETRE)
    other = converted([3.0, np.nan], unit=unit, into=into, area=SQUARE_KILOMETRE)
    np.testing.assert_allclose(to_mm_per_day(other, unit=into, area=SQUARE_KILOMETRE), depth, rtol=1e-12)
    if "mm/day" not in (unit, into) or unit == into:
        np.testing.assert_array_equal(converted([3.0, np.nan], unit=unit, into=into, area=None), other)
    else:
        with pytest.raises(InvalidInput, match="an area is needed"):
            converted(3.0, unit=unit, into=into, area=None)


def test_an_unknown_unit_is_refused() -> None:
    for unit, into in (("acre-ft", "cfs"), ("cfs", "acre-ft")):
        with pytest.raises(InvalidInput, match="'acre-ft' is not a unit"):
            converted(3.0, unit=unit, into=into, area=SQUARE_KILOMETRE)


@pytest.mark.parametrize("m2", [0.0, -1.0, np.nan, np.inf])
def test_an_area_that_is_not_positive_is_refused_by_name(m2: float) -> None:
    with pytest.raises(InvalidInput, match="'area_gages2'"):
        Area("area_gages2", m2)


def test_vapour_pressure_is_that_of_air_saturated_at_its_dew_point() -> None:
    # FAO paper 56, annex 2, table 2.3: 0.611 kPa at 0 degC, 1.228 at 10, 3.168 at 25
    np.testing.assert_allclose(vapour_pressure([0, 10, 25]), [611, 1228, 3168], rtol=1e-3)
    assert np.isnan(vapour_pressure(np.nan))


def test_radiation_is_spread_over_daylight_alone() -> None:
    np.testing.assert_allclose(daylight_mean([8.64, 8.64, 0.0], [86_400, 43_200, 0]), [100, 200, 0])
    assert np.isnan(daylight_mean([np.nan, np.nan], [43_200, 0])).all()
