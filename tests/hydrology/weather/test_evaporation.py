import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydrology.base.calendar import Period, day_of_year
from hydrology.weather.climate import (
    daylength,
    extraterrestrial_radiation,
    potential_evapotranspiration,
)

LEAP_YEAR = Period.parse("2000-01-01..2000-12-31").days


def test_days_of_the_year_are_counted_from_one() -> None:
    assert day_of_year(LEAP_YEAR).tolist() == list(range(1, 367))


def test_the_worked_examples_of_fao_paper_56() -> None:
    """Examples 8 and 9: 3 September at 20° S has 32.2 MJ/m2/day and 11.7 h of day."""
    third = np.array(["2001-09-03"], "datetime64[D]")
    assert extraterrestrial_radiation(third, -20.0)[0, 0] == pytest.approx(32.2, abs=0.05)
    assert daylength(third, -20.0)[0, 0] / 3600 == pytest.approx(11.7, abs=0.05)


def test_days_are_longest_in_june_in_the_north_and_even_at_the_equator() -> None:
    length = daylength(LEAP_YEAR, [0.0, 45.0])
    assert length.shape == (366, 2)
    assert length[:, 0] == pytest.approx(43_200)
    assert str(LEAP_YEAR[length[:, 1].argmax()])[:7] == "2000-06"


@given(st.floats(-90, 90))
def test_the_sun_is_never_negative_nor_undefined(latitude: float) -> None:
    length, radiation = daylength(LEAP_YEAR, latitude), extraterrestrial_radiation(LEAP_YEAR, latitude)
    assert ((length >= 0) & (length <= 86_400)).all()
    assert (radiation >= -1e-9).all()


def test_potential_evapotranspiration_is_the_formula_and_stops_in_the_cold() -> None:
    assert potential_evapotranspiration([15.0, -5.0, -20.0], [24.5, 24.5, 24.5]).tolist() == pytest.approx([2, 0, 0])
