"""Daily mean discharge from the USGS Water Data OGC API (v0 and v1).

Source of the shapes: api.waterdata.usgs.gov/docs/ogcapi. Values are read by name: the order of features and properties
is never guaranteed, and unknown properties are ignored.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

import numpy as np

from hydrology.base.calendar import Period
from hydrology.base.credit import Credit
from hydrology.base.errors import Problem
from ingestion.feeds.base import FeedProblem, Given, Observations, Site, Wanted
from ingestion.feeds.flow import PARAMETER, STATISTIC, FlowRow, discharge, flow_row
from ingestion.feeds.http import Service
from ingestion.feeds.pages import Properties, features, properties
from ingestion.feeds.usgs_sites import Location, chosen, daily_series, in_lists, locations

UNIT = "ft^3/s"
CREDIT = Credit("Discharge by the U.S. Geological Survey, National Water Information System.", "public domain (USA)")
NAMESPACE = "USGS-"
OVERLAP = timedelta(days=3)  # revisions are requested from before the last fetch, because changes appear late
_ONE_DAY = np.timedelta64(1, "D")

Rows = dict[str, list[Properties]]


class UsgsFeed:
    """Discharge of USGS gauges, with a few requests for hundreds of them.

    Args:
        service: at the base of the API, with its version.
        series: the time series to take, by basin, where a gauge has several.
    """

    credit = CREDIT

    def __init__(self, service: Service, series: Mapping[str, str] | None = None) -> None:
        self._service, self._named = service, series or {}

    def fetch(self, sites: Sequence[Site], wanted: Wanted) -> Iterator[Given]:
        """Yield the discharge of gauges for the requested days, and earlier revisions since the last fetch."""
        by_basin = {site.basin: site for site in sites}
        gauges = [basin for basin in by_basin if basin.startswith(NAMESPACE)]
        for basin in by_basin.keys() - set(gauges):
            yield Given(basin, FeedProblem(f"{basin} is not a gauge of USGS: leave it out of the feed."))
        for part in in_lists(gauges):
            yield from self._part([by_basin[basin] for basin in part], wanted)

    def _part(self, sites: Sequence[Site], wanted: Wanted) -> list[Given]:
        """Request gauges together: if a page fails, none of them is used, because none would be complete."""
        basins = [site.basin for site in sites]
        try:
            held = daily_series(self._service, basins)
            places = locations(self._service, [site.basin for site in sites if site.time_zone is None])
            rows = self._rows(basins, wanted.days, _since(sites))
        except FeedProblem as problem:
            return [Given(basin, problem) for basin in basins]
        given = []
        for site in sites:
            try:
                series = chosen(site.basin, held.get(site.basin, []), self._named)
                content: Observations | Problem = self._observations(
                    site, wanted, series, rows[site.basin], places.get(site.basin)
                )
            except FeedProblem as problem:
                content = problem
            given.append(Given(site.basin, content))
        return given

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

    def _observations(
        self, site: Site, wanted: Wanted, series: str, rows: Sequence[Properties], place: Location | None
    ) -> Observations:
        time_zone = place.time_zone if place else None
        of_series = [_row(site.basin, result) for result in rows if result.get("time_series_id") == series]
        daily = discharge(of_series, wanted.last_of(site, time_zone))
        origin = f"{self._service.base}/collections/daily/items {site.basin} series {series}"
        return Observations({} if daily is None else {"discharge": daily}, origin, time_zone)


def _since(sites: Sequence[Site]) -> datetime | None:
    """Return the time since which to request revisions. Return None for gauges never fetched."""
    fetched = [site.fetched_at for site in sites if site.fetched_at is not None]
    return min(fetched) - OVERLAP if fetched else None


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
