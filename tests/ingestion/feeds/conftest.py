"""Three synthetic gauges behind the local server, in three time zones, and the feeds that ask it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from hydrology.base.calendar import Period, day
from hydrology.base.errors import Problem
from hydrology.base.series import DailySeries, Flag
from hydrology.weather.forcing import WeatherForecast
from ingestion.feeds.base import Feed, FetchedBasinData, FetchWindow, Observations, Site
from ingestion.feeds.http import Service
from testing.feed_services.server import serving
from testing.feed_services.world import Fault, Gauge, World

NOW = datetime(2026, 11, 22, 14, tzinfo=UTC)
FIRST = day("2023-12-01")
PLACES = {"USGS-01031500": (45.17, -69.31), "USGS-06409000": (44.01, -103.83), "USGS-12010000": (46.37, -123.74)}
MAINE, DAKOTA, COAST = PLACES


def gauge(basin: str) -> Gauge:
    """Return a gauge whose flow and weather are computed from the day's number."""
    latitude, longitude = PLACES[basin]
    count = int((day("2026-12-31") - FIRST).astype(int)) + 1
    days = np.arange(count, dtype=np.float64)
    flags = np.where(days < 900, Flag.APPROVED, 0).astype(np.uint8)

    def series(values: object, unit: str) -> DailySeries:
        numbers = np.broadcast_to(np.asarray(values, dtype=np.float64), (count,)).copy()
        return DailySeries(FIRST, numbers, np.zeros(count, dtype=np.uint8), unit)

    weather = {
        "precipitation": series(days % 7, "mm/day"),
        "tmax": series(10 + days % 5, "degC"),
        "tmin": series(days % 5, "degC"),
        "srad": series(200 + days % 30, "W/m2"),
        "vp": series(700 + days % 50, "Pa"),
    }
    flow = DailySeries(FIRST, 100 + days + latitude, flags, "cfs")
    return Gauge(basin, latitude, longitude, 7.69e8, flow, weather)


@dataclass
class Live:
    """A world, the address of its server, and how long the feeds have paused."""

    world: World
    url: str
    pauses: list[float] = field(default_factory=list)

    def service(self, path: str = "", **chosen: Any) -> Service:
        """Return the service below an address of the server."""
        port = int(self.url.rpartition(":")[2])
        return Service(f"{self.url}{path}", allowed=[("127.0.0.1", port)], pause=self.pauses.append, **chosen)

    def today(self, *faults: Fault) -> None:
        """Let things go wrong today."""
        self.world.faults = {self.world.today: faults}

    def fetch(
        self, feed: Feed, days: str = "2026-11-01..2026-11-22", sites: Sequence[Site] = ()
    ) -> dict[str, FetchedBasinData]:
        """Return what a feed gives of gauges, of all three if none is named."""
        wanted = FetchWindow(Period.parse(days), self.world.now)
        return {given.basin: given for given in feed.fetch(sites or [site(basin) for basin in PLACES], wanted)}


def site(basin: str, **known: object) -> Site:
    """Return a basin as a feed is asked for it: its place is known, its time zone is not."""
    return Site(basin, *PLACES.get(basin, (None, None)), **known)  # type: ignore[arg-type]


def observed(given: FetchedBasinData) -> Observations:
    """Return the observations that a feed gave."""
    assert isinstance(given.content, Observations), given.content
    return given.content


def forecast(given: FetchedBasinData) -> WeatherForecast:
    """Return the forecast that a feed gave."""
    assert isinstance(given.content, WeatherForecast), given.content
    return given.content


def why(given: FetchedBasinData) -> str:
    """Return the reason for which a feed gave nothing."""
    assert isinstance(given.content, Problem), given.content
    return str(given.content)


@pytest.fixture
def live() -> Iterator[Live]:
    """The three gauges, served."""
    world = World({basin: gauge(basin) for basin in PLACES}, NOW, members=3)
    with serving(world) as url:
        yield Live(world, url)
