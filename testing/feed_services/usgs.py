"""Discharge in the shapes of the OGC API of USGS."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from hydrology.base.calendar import Day, day
from hydrology.base.series import Flag
from hydrology.base.units import M2_PER_SQUARE_MILE
from testing.feed_services.reply import Reply, as_json
from testing.feed_services.world import Gauge, World

_QUERYABLE = {"f", "limit", "cursor", "skipGeometry", "monitoring_location_id", "parameter_code", "statistic_id"} | {
    "time",
    "last_modified",
}


def collection(world: World, base: str, name: str, query: Mapping[str, str], body: Any) -> Reply:
    """Answer a query of a collection.

    Args:
        base: the address of the collections, for the links.
        body: of a POST.
    """
    if world.has("usgs-400") or set(query) - _QUERYABLE:
        return as_json({"code": "InvalidParameterValue", "description": "unknown query parameter"}, 400)
    if world.has("usgs-403"):
        return as_json({"error": {"code": "API_KEY_INVALID", "message": "An invalid API key was supplied."}}, 403)
    if world.once("usgs-429"):
        return as_json({"error": {"code": "OVER_RATE_LIMIT"}}, 429, {"Retry-After": "7"})
    match name:
        case "monitoring-locations":
            wanted = body["args"][0]["args"][1] if body else [query["monitoring_location_id"]]
            found = [_location(gauge) for gauge in _chosen(world, wanted)]
        case "time-series-metadata":
            ids = query["monitoring_location_id"].split(",")
            found = [each for gauge in _chosen(world, ids) for each in _series(world, gauge)]
        case "daily":
            found = _daily(world, query)
        case "latest-continuous":
            found = _newest(world, query)
        case _:
            return as_json({"code": "NotFound", "description": "no such collection"}, 404)
    return _page(world, f"{base}/{name}/items", query, found)


def _chosen(world: World, ids: Sequence[str]) -> list[Gauge]:
    """Return the gauges of some identifiers; none for one that is not known, or for a bare number."""
    return [world.gauges[basin] for basin in ids if basin in world.gauges]


def _location(gauge: Gauge) -> dict[str, Any]:
    return {
        "type": "Feature",
        "id": gauge.basin,
        "geometry": {"type": "Point", "coordinates": [gauge.longitude, gauge.latitude]},
        "properties": {
            "agency_code": "USGS",
            "monitoring_location_number": gauge.number,
            "monitoring_location_name": f"RIVER AT GAUGE {gauge.number}",
            "site_type_code": "ST",
            "drainage_area": gauge.area_m2 / M2_PER_SQUARE_MILE,
            "time_zone_abbreviation": gauge.standard_time[0],
            "uses_daylight_savings": "Y",
        },
    }


def _series(world: World, gauge: Gauge) -> list[dict[str, Any]]:
    result = {
        "monitoring_location_id": gauge.basin,
        "parameter_code": "00060",
        "statistic_id": "00003",
        "computation_identifier": "Mean",
        "computation_period_identifier": "Daily",
        "primary": "Primary",
        "begin": f"{gauge.flow.start}T00:00:00",
        "end": f"{world.flow(gauge).period.last}T00:00:00",
        "sublocation_identifier": None,
        "unit_of_measure": "ft^3/s",
        "web_description": "a property that nobody asked for",
    }
    ids = [gauge.series] + ([gauge.series[::-1]] if world.has("usgs-two-series") else [])
    return [{"type": "Feature", "id": each, "geometry": None, "properties": result} for each in ids]


Values = list[tuple[Day, float | None, int]]


def _values(world: World, gauge: Gauge, first: Day, last: Day) -> Values:
    flow = world.flow(gauge)
    known = (flow.flags & Flag.ABSENT == 0) & (flow.days >= first) & (flow.days <= last)
    return [
        (at, None if np.isnan(value) else float(value), int(flags))
        for at, value, flags in zip(flow.days[known], flow.values[known], flow.flags[known], strict=True)
    ]


def _daily(world: World, query: Mapping[str, str]) -> list[dict[str, Any]]:
    if world.has("usgs-empty"):
        return []
    begin, _, end = query["time"].partition("/")
    first, last = day("1800-01-01" if begin == ".." else begin), day("2199-12-31" if end == ".." else end)
    if world.has("usgs-no-head"):  # the last 35 days alone, of whatever was asked for
        first = max(first, world.today - 35)
    since = query.get("last_modified", "..").partition("/")[0]
    found = []
    for gauge in _chosen(world, query["monitoring_location_id"].split(",")):
        for at, value, flags in _values(world, gauge, first, last):
            modified = world.modified(gauge.basin, at)
            if since == ".." or modified >= datetime.fromisoformat(since):
                found += _rows(world, gauge, at, value, flags, modified)
    # Rows come in no order: by an id that has nothing to do with the day.
    return sorted(found, key=lambda feature: str(feature["id"]))


def _newest(world: World, query: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the flow of the last quarter of an hour: half more than the mean of the last day."""
    at = world.now.replace(minute=world.now.minute // 15 * 15, second=0, microsecond=0)
    found = []
    for gauge in _chosen(world, query["monitoring_location_id"].split(",")):
        value: str | None = f"{1.5 * float(world.flow(gauge).values[-1]):.9g}"
        if world.has("usgs-ice-null"):
            value = None
        if world.has("usgs-tide"):
            value = "-0.5"
        for series in [gauge.series] + ([gauge.series[::-1]] if world.has("usgs-two-series") else []):
            feature = _feature(gauge, world.today, None, 0, series, value, at)
            feature["properties"] |= {"statistic_id": "00011", "time": at.isoformat()}
            found.append(feature)
    return [] if world.has("usgs-empty") else found


def _rows(
    world: World, gauge: Gauge, at: Day, value: float | None, flags: int, modified: datetime
) -> list[dict[str, Any]]:
    qualifier: list[str] | str | None = ["ESTIMATED"] if flags & Flag.ESTIMATED else None
    newest = at == world.flow(gauge).period.last
    if newest and world.has("usgs-ice-null"):
        value, qualifier = None, ["ICE"]
    if newest and world.has("usgs-estimated-ice"):
        qualifier = ["ESTIMATED", "ICE"]
    if newest and world.has("usgs-qualifier-text"):
        qualifier = "ESTIMATED"
    text = None if value is None else f"{value:.9g}"
    if newest and world.has("usgs-thousands"):
        text = "1,250"
    if newest and world.has("usgs-tide"):
        text = "-0.5"
    rows = [(gauge.series, text, modified)]
    if newest and world.has("usgs-revised-row"):  # the same day as it was a moment before
        rows.append((gauge.series, "1.0", modified.replace(hour=0)))
    if world.has("usgs-two-series"):
        rows.append((gauge.series[::-1], "2.0", modified))
    return [_feature(gauge, at, qualifier, flags, *row) for row in rows]


def _feature(
    gauge: Gauge, at: Day, qualifier: list[str] | str | None, flags: int, series: str, value: str | None, when: datetime
) -> dict[str, Any]:
    return {
        "type": "Feature",
        "id": hashlib.sha256(f"{gauge.basin} {at} {series} {value}".encode()).hexdigest()[:32],
        "geometry": None,
        "properties": {
            "time_series_id": series,
            "monitoring_location_id": gauge.basin,
            "parameter_code": "00060",
            "statistic_id": "00003",
            "time": str(at),
            "value": value,
            "unit_of_measure": "ft^3/s",
            "approval_status": "Approved" if flags & Flag.APPROVED else "Provisional",
            "qualifier": qualifier,
            "last_modified": when.isoformat(),
        },
    }


def _page(world: World, address: str, query: Mapping[str, str], found: Sequence[dict[str, Any]]) -> Reply:
    start = int(base64.urlsafe_b64decode(query["cursor"])) if "cursor" in query else 0
    if start and world.has("usgs-500-page-2"):
        return as_json({"code": "InternalError", "description": "the database is away"}, 500)
    size = min(world.page_size, int(query["limit"]))
    cursor = base64.urlsafe_b64encode(str(start + size).encode()).decode()
    links = [{"rel": "self", "href": address}]
    if start + size < len(found):
        if start and world.has("usgs-repeated-cursor"):
            cursor = query["cursor"]
        where = "https://elsewhere.example/items" if world.has("usgs-next-elsewhere") else address
        rest = "&".join(f"{name}={value}" for name, value in query.items() if name != "cursor")
        links.append({"rel": "next", "href": f"{where}?{rest}&cursor={cursor}"})
    part = found[start : start + size]
    page = {"type": "FeatureCollection", "numberReturned": len(part), "features": part, "links": links}
    content = json.dumps(page).encode()
    if world.once("usgs-truncated"):
        content = content[: len(content) // 2]
    return Reply(200, content, {"Content-Type": "application/geo+json", "X-RateLimit-Remaining": "900"})
