"""Warmer air holds more water."""

import numpy as np
import pytest

from hydrology.weather.climate import saturation_vapour_pressure


@pytest.mark.parametrize(
    ("temperature", "pressure"), [(0, 611), (1, 657), (10, 1228), (20, 2338), (25, 3168), (30, 4243), (45, 9584)]
)
def test_the_pressures_are_those_of_the_printed_table(temperature: float, pressure: float) -> None:
    """Allen et al. 1998 (FAO paper 56), annex 2, table 2.3, in kPa of three to four digits."""
    assert saturation_vapour_pressure(temperature) == pytest.approx(pressure, rel=2e-3)


def test_it_rises_with_the_temperature_over_the_whole_possible_range() -> None:
    pressures = saturation_vapour_pressure(np.linspace(-100, 70, 500))
    assert (pressures > 0).all()
    assert (np.diff(pressures) > 0).all()
