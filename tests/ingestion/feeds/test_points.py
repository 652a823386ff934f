"""Weather of a basin is the mean over its points."""

from dataclasses import replace
from typing import Any

import numpy as np

from extensions.openmeteo.archive import OpenMeteoArchive
from extensions.openmeteo.forecast import OpenMeteoForecast
from hydrology.base.calendar import zone_of_longitude
from ingestion.feeds.base import Site
from ingestion.feeds.points import OverPoints
from tests.ingestion.feeds.conftest import DAKOTA, MAINE, PLACES, Live, forecast, observed, site, why

TWO = (PLACES[MAINE], (45.9, -69.0))
SITES = [site(MAINE, points=TWO), site(DAKOTA)]


def archive(live: Live) -> OpenMeteoArchive:
    return OpenMeteoArchive(live.service(), "era5")


def at(live: Live, place: tuple[float, float]) -> dict[str, Any]:
    """Return what the archive itself gives of a place, by the days of the gauge's meridian."""
    asked = replace(site(MAINE), latitude=place[0], longitude=place[1], time_zone=zone_of_longitude(PLACES[MAINE][1]))
    given = observed(live.fetch(archive(live), sites=[asked])[MAINE])
    return {name: series.values for name, series in given.variables.items()}


def test_observed_weather_is_the_mean_over_points(live: Live) -> None:
    mean = observed(live.fetch(OverPoints(archive(live)), sites=SITES)[MAINE])
    parts = [at(live, place) for place in TWO]
    assert not np.array_equal(parts[0]["srad"], parts[1]["srad"])
    for name, series in mean.variables.items():
        np.testing.assert_allclose(series.values, (parts[0][name] + parts[1][name]) / 2, rtol=1e-12)
    assert mean.time_zone is None
    assert "point 1" in mean.origin
    assert "point 2" in mean.origin


def test_a_site_without_points_is_asked_for_at_its_gauge(live: Live) -> None:
    over = observed(live.fetch(OverPoints(archive(live)), sites=SITES)[DAKOTA])
    alone = observed(live.fetch(archive(live), sites=[site(DAKOTA)])[DAKOTA])
    assert (over.origin, over.time_zone) == (alone.origin, alone.time_zone)
    assert all(np.array_equal(over.variables[name].values, alone.variables[name].values) for name in over.variables)


def test_forecasts_are_averaged_trace_by_trace(live: Live) -> None:
    feed = OpenMeteoForecast(live.service(), "/v1/ensemble", "ncep_gefs025", 5, 3)
    mean = forecast(live.fetch(OverPoints(feed), sites=SITES)[MAINE])
    alone = forecast(live.fetch(feed, sites=[site(MAINE, time_zone="Etc/GMT+5")])[MAINE])
    assert (mean.basin, mean.traces, mean.first, mean.issue) == (MAINE, alone.traces, alone.first, alone.issue)
    assert mean.values["precipitation"].shape == alone.values["precipitation"].shape


def test_points_on_both_sides_of_the_180th_meridian_are_asked_for_and_averaged(live: Live) -> None:
    live.world.gauges = {"OWN-vunda": replace(live.world.gauges[MAINE], latitude=-16.8, longitude=179.99)}
    here = Site("OWN-vunda", -16.8, 179.99, points=((-16.8, 179.8), (-16.8, -179.95)))
    given = observed(live.fetch(OverPoints(archive(live)), sites=[here])["OWN-vunda"])
    assert np.isfinite(given.variables["precipitation"].values).all()
    assert "point 2" in given.origin


def test_a_point_that_fails_fails_its_basin_alone(live: Live) -> None:
    far = site(MAINE, points=(PLACES[MAINE], (45.9, -69.0), (44.1, -70.1)))
    live.today("meteo-unequal-lengths")
    given = live.fetch(OverPoints(archive(live)), sites=[far])
    assert f"{MAINE} point" in why(given[MAINE])


def test_points_weigh_as_places_do(live: Live) -> None:
    result: list[str] = []
    live.fetch(OverPoints(OpenMeteoArchive(live.service(), "era5", result.append)), sites=SITES)
    live.fetch(OpenMeteoArchive(live.service(), "era5", result.append), sites=[site(name) for name in PLACES])
    assert result[0] == result[1]
