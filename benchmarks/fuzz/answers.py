"""What services answer to a feed: bodies in the shapes of USGS, Open-Meteo and Daymet.

A fetch asks for several addresses, so an input is several bodies with a mark between them: the first is for the address
that is asked for first, the last for all that are left.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

import httpx2
import numpy as np

from benchmarks.fuzz.target import Target
from extensions.daymet.feed import DaymetFeed
from extensions.openmeteo.archive import OpenMeteoArchive
from extensions.openmeteo.forecast import OpenMeteoForecast
from extensions.usgs.feed import UsgsFeed
from extensions.usgs.gauges import locations
from hydrology.base.calendar import Period, day
from hydrology.base.errors import Problem
from hydrology.base.series import DailySeries
from ingestion.feeds.base import Feed, FetchWindow, Observations, Site
from ingestion.feeds.http import Service
from testing.feed_services.server import answer
from testing.feed_services.world import Gauge, World

MARK = b"\n--next--\n"
BASIN = "USGS-01031500"
HOST = "http://127.0.0.1:1"
NOW = datetime(2026, 11, 22, 14, tzinfo=UTC)
DAYS = Period.parse("2026-11-16..2026-11-21")
MEMBERS = 2
_FIRST = day("2026-11-01")


@dataclass(slots=True)
class Scripted(Service):
    """A service whose answers are known; they are read as they would be from the network."""

    bodies: Sequence[bytes] = ()
    _asked_for: list[tuple[str, bytes | None]] = field(default_factory=list, init=False)

    def _asked(self, address: httpx2.URL, content: bytes | None, _media: str) -> bytes:
        asked = (str(address), content)
        if asked not in self._asked_for:
            self._asked_for.append(asked)
        return self.bodies[min(self._asked_for.index(asked), len(self.bodies) - 1)]


@dataclass(slots=True)
class Recorded(Service):
    """A service that answers as the local server does, and records the answers."""

    world: World = field(default_factory=lambda: World({BASIN: _gauge()}, NOW, members=MEMBERS))
    bodies: list[bytes] = field(default_factory=list)

    def _asked(self, address: httpx2.URL, content: bytes | None, _media: str) -> bytes:
        reply = answer(self.world, HOST, address.path, address.query.decode(), content)
        if reply.body not in self.bodies:
            self.bodies.append(reply.body)
        return reply.body


def _gauge() -> Gauge:
    count = 30

    def series(values: object, unit: str) -> DailySeries:
        numbers = np.broadcast_to(np.asarray(values, np.float64), (count,)).copy()
        return DailySeries(_FIRST, numbers, np.zeros(count, np.uint8), unit)

    days = np.arange(count)
    weather = {"precipitation": (days % 7, "mm/day"), "tmax": (10, "degC"), "tmin": (days % 5, "degC")}
    weather |= {"srad": (200, "W/m2"), "vp": (700, "Pa")}
    of_weather = {name: series(*shown) for name, shown in weather.items()}
    return Gauge(BASIN, 45.17, -69.31, 7.69e8, series(100 + days, "cfs"), of_weather)


Opened = Callable[[Service], Feed]


def _fetched(feed: Feed) -> None:
    """Fetch, and see that a refusal is a sentence; that of the only basin is raised."""
    site = Site(BASIN, 45.17, -69.31, fetched_at=datetime(2026, 11, 20, tzinfo=UTC))
    for given in feed.fetch([site], FetchWindow(DAYS, NOW)):
        if isinstance(given.content, Problem):
            raise given.content
        if isinstance(given.content, Observations):
            given.content.as_data(given.basin, "own")


def _target(opened: Opened, path: str, *words: str) -> Target:
    def at_once(_seconds: float) -> None:
        pass

    def read(content: bytes) -> None:
        _fetched(opened(Scripted(f"{HOST}{path}", pause=at_once, bodies=content.split(MARK))))

    def seeds() -> Iterator[bytes]:
        recorded = Recorded(f"{HOST}{path}", pause=at_once)
        _fetched(opened(recorded))
        yield MARK.join(recorded.bodies)

    return Target(read, seeds, (MARK.decode(), *words), longest=16_384)


def _read_places(content: bytes) -> None:
    locations(Scripted(HOST, pause=lambda _seconds: None, bodies=[content]), [BASIN])


def _place() -> Iterator[bytes]:
    recorded = Recorded(f"{HOST}/ogcapi/v0", pause=lambda _seconds: None)
    locations(recorded, [BASIN])
    yield from recorded.bodies


_JSON = ("null", "1e999", "-999999", "NaN", "[]", "{}", "2026-11-19")

TARGETS = {
    "feed-usgs": _target(UsgsFeed, "/ogcapi/v0", *_JSON, "features", "next", "qualifier", "0001-01-01T00:00:00+23:59"),
    "feed-usgs-places": Target(_read_places, _place, (*_JSON, "features", "time_zone_abbreviation")),
    "feed-open-meteo-archive": _target(
        lambda service: OpenMeteoArchive(service, "era5"), "", *_JSON, "daily_units", "timezone", "Etc/GMT+5"
    ),
    "feed-open-meteo-forecast": _target(
        lambda service: OpenMeteoForecast(service, "/v1/forecast", "ecmwf_ifs", 5),
        "",
        *_JSON,
        "daily_units",
        "timezone",
    ),
    "feed-open-meteo-ensemble": _target(
        lambda service: OpenMeteoForecast(service, "/v1/ensemble", "ncep_gefs025", 5, MEMBERS), "", *_JSON, "_member01"
    ),
    "feed-daymet": _target(DaymetFeed, "", "year,yday", "365", "-9999", "0.0"),
}
