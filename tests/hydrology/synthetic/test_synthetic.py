import numpy as np
import pytest

from hydrology.base.calendar import Period
from hydrology.base.errors import InvalidInput
from hydrology.weather.climate import climate_indices
from testing.synthetic.basins import SyntheticWater, Weather, landscape, water, weather

PERIOD = Period.parse("1996-10-01..2002-09-30")
LAND = landscape(8)


@pytest.fixture(scope="module")
def sky() -> Weather:
    return weather(LAND, PERIOD, seed=7)


@pytest.fixture(scope="module")
def truth(sky: Weather) -> SyntheticWater:
    return water(LAND, sky, PERIOD.days)


def test_the_balance_of_every_basin_closes_on_every_day(sky: Weather, truth: SyntheticWater) -> None:
    gained = (sky.precipitation - truth.discharge - truth.loss).cumsum(axis=0)
    residual = np.abs(truth.storage_before + gained - truth.storage)
    assert (residual <= 1e-12 * (truth.storage_before + sky.precipitation.cumsum(axis=0))).all()


def test_all_water_is_positive_and_loss_is_within_its_potential(sky: Weather, truth: SyntheticWater) -> None:
    assert (truth.discharge > 0).all()
    assert (truth.loss >= 0).all()
    assert (truth.loss <= sky.pet).all()
    assert (truth.storage >= truth.swe).all()


def test_the_weather_is_consistent(sky: Weather) -> None:
    assert (sky.tmax > sky.tmin).all()
    assert (sky.precipitation >= 0).all()
    assert ((sky.srad > 0) & (sky.srad < 1000)).all()
    saturated = 610.8 * np.exp(17.27 * sky.tmin / (sky.tmin + 237.3))
    assert (sky.vp <= saturated + 0.01).all()
    wet = sky.precipitation > 5
    assert sky.srad[wet].mean() < sky.srad[~wet].mean()


def test_basins_run_from_arid_to_snowy(sky: Weather, truth: SyntheticWater) -> None:
    climates = [
        climate_indices(sky.precipitation[:, b], sky.temperature[:, b], sky.pet[:, b], PERIOD.days) for b in range(8)
    ]
    assert climates[0].aridity > 2
    assert climates[-1].aridity < 0.5
    assert climates[0].frac_snow < 0.1
    assert climates[-1].frac_snow > 0.4
    runoff_ratio = truth.discharge.sum(axis=0) / sky.precipitation.sum(axis=0)
    assert runoff_ratio[0] < 0.2
    assert runoff_ratio[-1] > 0.6
    assert truth.swe[:, -1].max() > 300
    assert LAND.climates[0] == "arid"
    assert LAND.climates[-1] == "alpine"


def test_the_seed_alone_decides_the_weather(sky: Weather) -> None:
    again = weather(LAND, PERIOD, seed=7)
    assert np.array_equal(again.precipitation, sky.precipitation)
    assert np.array_equal(again.vp, sky.vp)
    assert not np.array_equal(weather(LAND, PERIOD, seed=8).precipitation, sky.precipitation)


@pytest.mark.parametrize("basins", [0, -1, 100])
def test_a_number_of_basins_out_of_range_is_refused(basins: int) -> None:
    with pytest.raises(InvalidInput, match="1 to 99"):
        landscape(basins)
