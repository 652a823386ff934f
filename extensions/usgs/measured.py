"""The newest measured discharge from the USGS Water Data OGC API: its collection `latest-continuous`."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import isfinite

from extensions.usgs.feed import CREDIT, UNIT, Rows
from extensions.usgs.feed_kinds import UsgsNowSettings
from extensions.usgs.flow import CFS, PARAMETER
from extensions.usgs.gauges import by_request, how_to_choose, service
from extensions.usgs.pages import Properties, features, properties
from hydrology.base.errors import excerpt
from hydrology.base.units import converted
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, MeasuredFlow, Site
from ingestion.feeds.http import FeedAccess, Service

INSTANTANEOUS = "00011"


class MeasuredFlowFeed:
    """The newest measured flow of USGS gauges, with a few requests for hundreds of them."""

    credit = CREDIT

    def __init__(self, service: Service, series: Mapping[str, str] | None = None) -> None:
        self._service, self._named = service, series or {}

    def fetch(self, sites: Sequence[Site], _wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the newest flow of gauges, or why it cannot be used."""
        return by_request(sites, self._rows, lambda site, rows: self._newest(site.basin, rows.get(site.basin, [])))

    def _rows(self, sites: Sequence[Site]) -> Rows:
        params = {"f": "json", "skipGeometry": "true", "parameter_code": PARAMETER, "statistic_id": INSTANTANEOUS}
        names = ",".join(site.basin for site in sites)
        rows: Rows = defaultdict(list)
        for feature in features(self._service, "latest-continuous", params | {"monitoring_location_id": names}):
            result = properties(feature)
            rows[str(result.get("monitoring_location_id"))].append(result)
        return rows

    def _newest(self, basin: str, rows: Sequence[Properties]) -> MeasuredFlow:
        by_series = {str(row.get("time_series_id")): row for row in rows}
        named = self._named.get(basin)
        if named is not None:
            by_series = {series: row for series, row in by_series.items() if series == named}
        if not by_series:
            raise FeedProblem(f"USGS has no newest measured discharge of {basin}.")
        if len(by_series) > 1:
            ids = [*by_series]
            raise FeedProblem(f"{basin} has {len(ids)} series of discharge. {how_to_choose(basin, ids, ids)}")
        return _flow(basin, *by_series.values())


def measured_feed(settings: UsgsNowSettings, access: FeedAccess) -> MeasuredFlowFeed:
    """Open a feed of measured discharge."""
    return MeasuredFlowFeed(service(access), settings.series)


def _flow(basin: str, row: Properties) -> MeasuredFlow:
    """Parse a row; FeedProblem where it has no flow of an instant that can be used."""
    try:
        at, value = datetime.fromisoformat(str(row.get("time"))), float(str(row.get("value")))
        can_be_used = at.tzinfo is not None and isfinite(value) and value >= 0 and row.get("unit_of_measure") == UNIT
    except ValueError:
        can_be_used = False
    if not can_be_used:
        stated = excerpt(str({name: row.get(name) for name in ("time", "value", "unit_of_measure", "qualifier")}))
        raise FeedProblem(f"The newest measured discharge of {basin} cannot be used: {stated}.")
    return MeasuredFlow(at.astimezone(UTC), float(converted(value, unit=CFS, into="m3/s", area=None)))
