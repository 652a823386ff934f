import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.errors import InvalidInput
from hydrology.base.units import Area, converted, daylight_mean, mm_per_day_to_m3s, to_mm_per_day

SQUARE_KILOMETRE = Area("area_gages2", 1e6)
UNITS = ("cfs", "m3/s", "mm/day")


def test_known_amounts() -> None:
    assert converted(1, unit="cfs", into="m3/s", area=None) == pytest.approx(0.3048**3, rel=1e-15)
    assert to_mm_per_day(1, unit="m3/s", area=SQUARE_KILOMETRE) == pytest.approx(86.4, rel=1e-15)
    assert to_mm_per_day(1, unit="cfs", area=SQUARE_KILOMETRE) == pytest.approx(2.4465755455488, rel=1e-14)
    assert mm_per_day_to_m3s(86.4, area=SQUARE_KILOMETRE) == pytest.approx(1, rel=1e-15)


@given(st.floats(0, 1e7), st.floats(1e4, 1e12), st.permutations(UNITS))
def test_every_conversion_goes_back(flow: float, m2: float, units: list[str]) -> None:
    area, unit, into = Area("maurer", m2), *units[:2]
    there = converted(flow, unit=unit, into=into, area=area)
    assert converted(there, unit=into, into=unit, area=area) == pytest.approx(flow, rel=1e-14)


def test_missing_stays_missing_and_single_precision_is_widened() -> None:
    flow = converted(np.array([1, np.nan], dtype=np.float32), unit="cfs", into="m3/s", area=None)
    assert flow.dtype == np.float64
    assert np.isnan(flow).tolist() == [False, True]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("into", UNITS)
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


def test_radiation_is_spread_over_daylight_alone() -> None:
    np.testing.assert_allclose(daylight_mean([8.64, 8.64, 0.0], [86_400, 43_200, 0]), [100, 200, 0])
    assert np.isnan(daylight_mean([np.nan, np.nan], [43_200, 0])).all()
