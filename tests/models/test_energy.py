"""Temperature and potential evapotranspiration of a forcing."""

from dataclasses import replace

import numpy as np
import pytest

from hydrology.base.calendar import Period
from hydrology.weather.climate import extraterrestrial_radiation, potential_evapotranspiration
from models.forcing import Forcing, days_of, energy
from models.learning import TrainingData
from testing.networks import config, training_data


def forcing() -> Forcing:
    data: TrainingData = training_data()
    places = data.forcing.static.copy()
    places[:, 3] = [47.25, -12.5, 0.0]
    return replace(data.forcing, auxiliary=data.forcing.auxiliary * 10, static=places)


def test_potential_evapotranspiration_is_that_of_day_and_latitude() -> None:
    given = forcing()
    temperature, pet = energy(given, config().inputs)
    mean = (given.auxiliary[..., 0].astype(float) + given.auxiliary[..., 1]) / 2
    radiation = extraterrestrial_radiation(given.period.days, given.static[:, 3]).T
    assert temperature == pytest.approx(mean, abs=1e-5)
    assert pet == pytest.approx(potential_evapotranspiration(mean, radiation), rel=1e-5, abs=1e-6)


def test_a_basin_and_a_day_have_the_same_bits_alone() -> None:
    given = forcing()
    whole = energy(given, config().inputs)
    days = Period.parse("2001-03-01..2001-03-09")
    alone = energy(given.basins(slice(1, 2)).over(days), config().inputs)
    at = days_of(given.period, days)
    for one, other in zip(whole, alone, strict=True):
        assert np.array_equal(one[1, at], other[0])
