"""The colours of the map agree with what the pages call stale."""

import pytest

from app.pages.basins_today import SCALES
from hydrology.base.calendar import stale
from records.outlooks.overview import BasinOverview

BASIN = BasinOverview("USGS-01")


@pytest.mark.parametrize("age", range(-1, 12))
def test_a_basin_has_a_colour_of_a_stale_forecast_if_its_forecast_is_stale(age: int) -> None:
    scale = SCALES["freshness"]
    basin = BASIN._replace(weather_age_days=age)
    (colour,) = scale.colours([basin])
    assert scale.entries[colour][1].startswith("stale") is stale(age)
