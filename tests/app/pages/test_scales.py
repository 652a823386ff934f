"""The colours of the map agree with what the pages call stale."""

from dataclasses import replace

import pytest

from app.pages.basins_today import SCALES, BasinToday

BASIN = BasinToday(id="USGS-01", kind="usgs", name=None, place=None)


@pytest.mark.parametrize("age", range(-1, 12))
def test_a_basin_has_a_colour_of_a_stale_forecast_if_its_forecast_is_stale(age: int) -> None:
    scale = SCALES["freshness"]
    basin = replace(BASIN, weather_age_days=age)
    assert dict(scale.legend)[scale.colour(basin)].startswith("stale") is basin.stale
