"""Official flood categories, with impacts, from NOAA's National Water Prediction Service.

Source of the shapes: api.water.noaa.gov/nwps/v1. A gauge is asked for by its USGS number. -9999 stands for a stage or
flow that does not exist.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from extensions.nwps.feed_kinds import CategoriesSettings
from extensions.nwps.settings import NwpsService
from hydrology.base.basins import source_code
from hydrology.base.products import Credit
from ingestion.feeds.base import FetchedBasinData, FetchWindow, Site, each
from ingestion.feeds.http import Broken, FeedAccess, NotThere, Service, parsed
from jobspec.levels import NewCategories, NoCategories, read_categories

CREDIT = Credit("Flood categories by NOAA's National Weather Service.", "public domain (USA)")
SOURCE = "NOAA/NWS"
NEEDED = ("usgsId", "flood")
Gauge = dict[str, Any] | None


class CategoriesFeed:
    """Official flood categories of USGS gauges, with a request for each."""

    credit = CREDIT

    def __init__(self, service: Service) -> None:
        self._service = service

    def fetch(self, sites: Sequence[Site], _wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the categories of each gauge, None where the service has none."""
        for site in sites:
            yield from each([site], partial(self._gauge, site), _categories)

    def _gauge(self, site: Site) -> Gauge:
        try:
            return self._service.read(_document, f"/gauges/{quote(source_code(site.basin), safe='')}")
        except NotThere:
            return None


def _document(body: bytes) -> dict[str, Any]:
    gauge = parsed(body)
    if not isinstance(gauge, dict):
        raise Broken("the answer does not describe a gauge")
    return {name: gauge[name] for name in NEEDED if name in gauge}


def _categories(_site: Site, gauge: Gauge) -> NewCategories | None:
    if gauge is None or gauge.get("flood") is None:
        return None
    try:
        read_categories(gauge)
    except NoCategories:
        return None
    return NewCategories(document=gauge, source=SOURCE)


def categories_feed(_settings: CategoriesSettings, access: FeedAccess) -> CategoriesFeed:
    """Open a feed of official flood categories."""
    return CategoriesFeed(access.service(NwpsService.load().nwps_url))
