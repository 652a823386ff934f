"""Gauges of USGS: location, time zone and daily series of discharge."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from extensions.usgs.flow import PARAMETER, STATISTIC
from extensions.usgs.pages import Properties, features, properties
from extensions.usgs.settings import UsgsService
from hydrology.base.basins import TIME_ZONE
from hydrology.base.calendar import Day, day
from hydrology.base.errors import InvalidInput, excerpt
from hydrology.base.units import M2_PER_SQUARE_MILE, SERVICE_AREA
from ingestion.base import BasinData
from ingestion.feeds.base import Answer, Content, FeedProblem, FetchedBasinData, Site, each
from ingestion.feeds.http import FeedAccess, Service

NAMESPACE = "USGS-"
MAX_LISTED = 8
MAX_LIST = 6_000  # letters of identifiers in a URL, which may have about 8000 bytes

# By the abbreviation of standard time: the zone with summer time, and the one without.
_TIME_ZONES = {
    "AST": ("America/Halifax", "America/Puerto_Rico"),
    "EST": ("America/New_York", "Etc/GMT+5"),
    "CST": ("America/Chicago", "Etc/GMT+6"),
    "MST": ("America/Denver", "America/Phoenix"),
    "PST": ("America/Los_Angeles", "Etc/GMT+8"),
    "AKST": ("America/Anchorage", "Etc/GMT+9"),
    "HST": ("America/Adak", "Pacific/Honolulu"),
    "GST": ("Pacific/Guam", "Pacific/Guam"),
    "SST": ("Pacific/Pago_Pago", "Pacific/Pago_Pago"),
}


@dataclass(frozen=True, slots=True)
class DailySeriesInfo:
    """A gauge's series of daily mean discharge. `begin` and `end` as its service gives them, or None."""

    id: str
    primary: bool
    sublocation: str | None
    begin: Day | None = None
    end: Day | None = None

    def __str__(self) -> str:
        return f"{excerpt(self.id)[:64]} ({self.begin or 'begin unknown'} to {self.end or 'end unknown'})"


def in_lists(basins: Sequence[str]) -> Iterator[list[str]]:
    """Split basins into lists that fit into a URL."""
    part: list[str] = []
    for basin in basins:
        if part and sum(len(name) + 3 for name in part) + len(basin) > MAX_LIST:  # a comma is written %2C
            yield part
            part = []
        part.append(basin)
    if part:
        yield part


def by_request(
    sites: Sequence[Site], ask: Callable[[Sequence[Site]], Answer], content: Callable[[Site, Answer], Content]
) -> Iterator[FetchedBasinData]:
    """Yield the data of USGS's gauges, requested in lists that fit into a URL; other basins are refused."""
    by_basin = {site.basin: site for site in sites}
    gauges = [basin for basin in by_basin if basin.startswith(NAMESPACE)]
    for basin in by_basin.keys() - set(gauges):
        yield FetchedBasinData(basin, FeedProblem(f"{basin} is not a gauge of USGS: leave it out of the feed."))
    for part in in_lists(gauges):
        asked = [by_basin[basin] for basin in part]
        yield from each(asked, partial(ask, asked), content)


def service(access: FeedAccess) -> Service:
    """Return USGS's Water Data OGC API."""
    settings = UsgsService.load()
    return access.service(settings.usgs_url, settings.usgs_key, "FRESHET_USGS_KEY")


def gauge(basin: str, access: FeedAccess) -> BasinData | None:
    """Return what USGS states of a gauge; None where it knows none."""
    return locations(service(access), [basin]).get(basin)


def locations(service: Service, basins: Sequence[str]) -> dict[str, BasinData]:
    """Return the metadata of gauges (`USGS-01491000`); unknown gauges are left out.

    Depths of runoff use the area that a model learnt with, not that of USGS.
    """
    if not basins:
        return {}
    member = {"op": "in", "args": [{"property": "monitoring_location_id"}, list(basins)]}
    found: dict[str, BasinData] = {}
    for feature in features(service, "monitoring-locations", {"f": "json"}, {"op": "and", "args": [member]}):
        result = properties(feature)
        basin = str(feature.get("id") or result.get("monitoring_location_id"))
        if basin in basins:
            found[basin] = _location(basin, feature, result)
    return found


def daily_series(service: Service, basins: Sequence[str]) -> dict[str, list[DailySeriesInfo]]:
    """Return the series of daily mean discharge of gauges. Gauges without any are left out."""
    params = {"f": "json", "skipGeometry": "true", "monitoring_location_id": ",".join(basins)}
    params |= {"parameter_code": PARAMETER, "statistic_id": STATISTIC}
    by_basin: dict[str, list[DailySeriesInfo]] = {}
    for feature in features(service, "time-series-metadata", params):
        result = properties(feature)
        kind = result.get("computation_identifier"), result.get("computation_period_identifier")
        if result.get("parameter_code") == PARAMETER and kind == ("Mean", "Daily"):
            info = DailySeriesInfo(
                str(feature.get("id") or result.get("time_series_id")),
                result.get("primary") == "Primary",
                result.get("sublocation_identifier") or None,
                _day(result.get("begin")),
                _day(result.get("end")),
            )
            by_basin.setdefault(str(result.get("monitoring_location_id")), []).append(info)
    return by_basin


def chosen(basin: str, held: Sequence[DailySeriesInfo], named: Mapping[str, str]) -> str:
    """Return the id of the one series to use for a gauge's discharge; series are never merged.

    It is the one that the operator `named` for the basin, the only one or the main one; else a FeedProblem.
    """
    if not held:
        raise FeedProblem(
            f"USGS knows no daily mean discharge of {basin}: check its number, and that it is a gauge of discharge."
        )
    ids = [info.id for info in held]
    if basin in named:
        if named[basin] in ids:
            return named[basin]
        raise FeedProblem(f"{basin} has no series {excerpt(named[basin])}. {how_to_choose(basin, ids, held)}")
    main = [info.id for info in held if info.primary and info.sublocation is None]
    for choice in (ids, main):
        if len(choice) == 1:
            return choice[0]
    which = "several are primary" if main else "none is primary"
    raise FeedProblem(
        f"{basin} has {len(ids)} series of daily mean discharge, and {which}. {how_to_choose(basin, ids, held)}"
    )


def how_to_choose(basin: str, ids: Sequence[str], described: Sequence[object]) -> str:
    """List a gauge's series, and how to name one to a feed."""
    listed = ", ".join(map(str, described[:MAX_LISTED])) + (", ..." if len(described) > MAX_LISTED else "")
    return (
        f"They are {listed}. Name one, such as the one that goes on: in the feed's `series`, or as "
        f"`freshet feeds add NAME --adapter ADAPTER --series {basin}={excerpt(ids[-1])[:64]}`."
    )


def _day(value: object) -> Day | None:
    """Parse the calendar day at the start of a text. None where there is none."""
    try:
        return day(str(value)[:10])
    except InvalidInput:
        return None


def _location(basin: str, feature: dict[str, Any], result: Properties) -> BasinData:
    geometry = feature.get("geometry")
    place = geometry.get("coordinates") if isinstance(geometry, dict) else None
    longitude, latitude = place[:2] if isinstance(place, list) and len(place) >= 2 else (None, None)
    area = _within(result.get("drainage_area"), 1e-6, 1e8)
    zones = _TIME_ZONES.get(str(result.get("time_zone_abbreviation")))
    time_zone = zones and zones[0 if result.get("uses_daylight_savings") == "Y" else 1]
    return BasinData(
        basin,
        name=_line(result.get("monitoring_location_name")),
        latitude=_within(latitude, -90, 90),
        longitude=_within(longitude, -180, 180),
        areas={} if area is None else {SERVICE_AREA: area * M2_PER_SQUARE_MILE},
        texts={TIME_ZONE: time_zone} if time_zone else {},
    )


def _line(value: Any) -> str | None:
    """Return a text in one printable line; None where it is empty."""
    shown = "".join(filter(str.isprintable, value))[:200].strip() if isinstance(value, str) else ""
    return shown or None


def _within(value: Any, low: float, high: float) -> float | None:
    """Return a number within bounds. Return None where it is not a number, or outside."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and low <= value <= high else None
