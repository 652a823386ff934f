"""The basins of the soak, what is known of them when it begins, and what a local server brings of them."""

from datetime import UTC, datetime

from benchmarks.service.store import BASINS
from benchmarks.speed.country import PERIOD, SyntheticCountry
from benchmarks.speed.daily_cycle import LIVE, LiveCountry, gauges_of
from benchmarks.speed.warm_forecast import HORIZON
from hydrology.base.calendar import Period
from testing.feed_services.world import World

FETCHED = 60
"""This many days at the end of the record come by feeds, one after the other."""
KNOWN = Period(PERIOD.first, PERIOD.last - FETCHED)
T0 = KNOWN.last - HORIZON
"""The newest day that has states when the soak begins."""
FEEDS = {
    "flow": {"adapter": "usgs"},
    "weather": {"adapter": "open-meteo-archive", "model": "era5", "product": LIVE},
}


def country() -> LiveCountry:
    """Return the basins until the feeds go on."""
    return LiveCountry(SyntheticCountry(BASINS), KNOWN)


def world() -> World:
    """Return what the local server knows: the whole record, a few days a page."""
    return World(gauges_of(LiveCountry(SyntheticCountry(BASINS), PERIOD)), datetime.now(UTC), page_size=BASINS * 4)


def settings(url: str) -> dict[str, str]:
    """Return the settings of a service whose feeds are asked of a server."""
    return {
        "FRESHET_INGEST_HOSTS": url.removeprefix("http://"),
        "FRESHET_USGS_URL": f"{url}/ogcapi/v0",
        "FRESHET_OPEN_METEO_ARCHIVE_URL": url,
        "FRESHET_OPEN_METEO_KEY": "a-key",  # the free limit is less than the soak asks for
    }
