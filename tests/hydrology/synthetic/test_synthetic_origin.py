"""The true origin of synthetic flow: its parts are all of it, and each is what it is called."""

import numpy as np
import pytest

from hydrology.base.calendar import Period
from testing.synthetic.basins import Landscape, SyntheticWater, Weather, landscape, water, weather
from testing.synthetic.origin import LATER, OTHER, SNOW, discharge_by_origin

PERIOD = Period.parse("2000-10-01..2003-09-30")
HORIZON = 90
Country = tuple[Landscape, Weather, SyntheticWater]


@pytest.fixture(scope="module")
def country() -> Country:
    land = landscape(12)
    sky = weather(land, PERIOD, seed=1)
    return land, sky, water(land, sky, PERIOD.days)


@pytest.mark.parametrize("t0", [150, 547, 700])
def test_the_parts_add_up_to_the_discharge(country: Country, t0: int) -> None:
    land, sky, truth = country
    parts = discharge_by_origin(land, sky, truth, t0, HORIZON)
    assert (parts >= 0).all()
    np.testing.assert_allclose(parts.sum(axis=-1), truth.discharge[t0 + 1 : t0 + 1 + HORIZON], rtol=1e-9, atol=1e-12)


def test_no_more_flows_from_an_origin_than_it_held(country: Country) -> None:
    land, sky, truth = country
    t0 = 547
    sums = discharge_by_origin(land, sky, truth, t0, HORIZON).sum(axis=0)
    assert (sums[:, SNOW] <= truth.swe[t0] + 1e-9).all()
    assert (sums[:, OTHER] <= truth.soil[t0] + truth.fast[t0] + truth.slow[t0] + 1e-9).all()
    assert (sums[:, LATER] <= sky.precipitation[t0 + 1 : t0 + 1 + HORIZON].sum(axis=0) + 1e-9).all()


def test_basins_without_snow_have_no_flow_of_snow(country: Country) -> None:
    land, sky, truth = country
    t0 = 547
    bare = truth.swe[t0] == 0
    parts = discharge_by_origin(land, sky, truth, t0, HORIZON)
    assert bare.any()
    assert not parts[:, bare, SNOW].any()
    assert (parts[:, ~bare, SNOW].sum(axis=0) > 0).all()


def test_before_it_rains_no_later_precipitation_flows(country: Country) -> None:
    land, sky, truth = country
    parts = discharge_by_origin(land, sky, truth, 547, HORIZON)
    dry = sky.precipitation[548 : 548 + HORIZON].cumsum(axis=0) == 0
    assert not parts[dry][:, LATER].any()
