"""Daily mean discharge from the USGS Water Data OGC API (v0 and v1).

Source of the shapes: api.waterdata.usgs.gov/docs/ogcapi. Values are read by name: the order of features and properties
is never guaranteed, and unknown properties are ignored.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np

from extensions.usgs.feed_kinds import UsgsSettings
from extensions.usgs.flow import PARAMETER, STATISTIC, FlowRow, discharge, flow_row
from extensions.usgs.gauges import DailySeriesInfo, by_request, chosen, daily_series, locations, service
from extensions.usgs.pages import Properties, features, properties
from hydrology.base.basins import TIME_ZONE
from hydrology.base.calendar import Period
from hydrology.base.products import Credit
from ingestion.base import BasinData
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Observations, Site
from ingestion.feeds.http import FeedAccess, Service

UNIT = "ft^3/s"
CREDIT = Credit("Discharge by the U.S. Geological Survey, National Water Information System.", "public domain (USA)")
OVERLAP = timedelta(days=3)  # revisions are requested from before the last fetch, because changes appear late
_ONE_DAY = np.timedelta64(1, "D")

Rows = dict[str, list[Properties]]


class _Answer(NamedTuple):
    """What USGS answers about some gauges: their series, and their places and rows by gauge."""

    held: dict[str, list[DailySeriesInfo]]
    places: dict[str, BasinData]
    rows: Rows


class UsgsFeed:
    """Discharge of USGS gauges, with a few requests for hundreds of them.

    `series` names the time series to take, by basin, where a gauge has several.
    """

    credit = CREDIT

    def __init__(self, service: Service, series: Mapping[str, str] | None = None) -> None:
        self._service, self._named = service, series or {}

    def fetch(self, sites: Sequence[Site], wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the discharge of gauges for the requested days, and earlier revisions since the last fetch."""

        def ask(part: Sequence[Site]) -> _Answer:
            """Request gauges together: if a page fails, none of them is used, because none would be complete."""
            basins = [site.basin for site in part]
            held = daily_series(self._service, basins)
            places = locations(self._service, [site.basin for site in part if site.time_zone is None])
            fetched = [site.fetched_at for site in part if site.fetched_at is not None]
            since = min(fetched) - OVERLAP if fetched else None  # gauges never fetched have no revisions
            return _Answer(held, places, self._rows(basins, wanted.days, since))

        return by_request(sites, ask, lambda site, answer: self._observations(site, wanted, answer))

    def _rows(self, basins: Sequence[str], days: Period, since: datetime | None) -> Rows:
        params = {"f": "json", "skipGeometry": "true", "monitoring_location_id": ",".join(basins)}
        params |= {"parameter_code": PARAMETER, "statistic_id": STATISTIC}
        queries = [{"time": f"{days.first}/{days.last}"}]
        if since is not None:
            revised = f"{since:%Y-%m-%dT%H:%M:%SZ}/.."
            queries.append({"time": f"../{days.first - _ONE_DAY}", "last_modified": revised})
        rows: Rows = defaultdict(list)
        for query in queries:
            for feature in features(self._service, "daily", params | query):
                result = properties(feature)
                rows[str(result.get("monitoring_location_id"))].append(result)
        return rows

    def _observations(self, site: Site, wanted: FetchWindow, answer: _Answer) -> Observations:
        held = answer.held.get(site.basin, [])
        series = chosen(site.basin, held, self._named)
        place = answer.places.get(site.basin)
        time_zone = place.texts.get(TIME_ZONE) if place else None
        rows = [row for row in answer.rows.get(site.basin, []) if row.get("time_series_id") == series]
        daily = discharge([_row(site.basin, row) for row in rows], wanted.last_of(site, time_zone))
        origin = f"{self._service.base}/collections/daily/items {site.basin} series {series}"
        since = next(info.begin for info in held if info.id == series)
        return Observations({} if daily is None else {"discharge": daily}, origin, time_zone, since)


def discharge_feed(settings: UsgsSettings, access: FeedAccess) -> UsgsFeed:
    """Open a feed of discharge."""
    return UsgsFeed(service(access), settings.series)


def _row(basin: str, result: Properties) -> FlowRow:
    if result.get("unit_of_measure") != UNIT:
        raise FeedProblem(f"A value of {basin} is not in {UNIT}: nothing of the basin was taken.")
    return flow_row(
        basin,
        result.get("time"),
        result.get("value"),
        result.get("qualifier"),
        result.get("approval_status"),
        result.get("last_modified"),
    )
