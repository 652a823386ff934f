"""Rating tables of gauges from USGS's catalogue (STAC): the newest file of each, as it is.

A gauge has up to three files there, of the types exsa (expanded, its discharges include the shifts of the day), base
and corr (corrections of the stage). The first is taken, or else the second. Links lead to files of the same service
alone.
"""

from collections.abc import Iterator, Mapping, Sequence

from extensions.usgs.feed_kinds import RatingsSettings
from extensions.usgs.gauges import by_request, in_lists
from extensions.usgs.pages import features
from extensions.usgs.settings import UsgsService
from hydrology.base.errors import excerpt
from hydrology.base.products import Credit
from hydrology.ratings import MAX_CHARACTERS
from ingestion.feeds.base import FeedProblem, FetchedBasinData, FetchWindow, Site
from ingestion.feeds.http import Broken, FeedAccess, NotThere, Service
from jobspec.levels import NewRating

CREDIT = Credit("Rating tables by the U.S. Geological Survey.", "public domain (USA)")
SOURCE = "waterdata.usgs.gov"
TYPES = ("exsa", "base")
Links = Mapping[str, str]
"""Where the files of gauges are, by their names (`USGS-01104475.exsa.rdb`)."""


class RatingsFeed:
    """Rating tables of USGS gauges: one search for hundreds of them, and a request for each file."""

    credit = CREDIT

    def __init__(self, service: Service) -> None:
        self._service = service

    def fetch(self, sites: Sequence[Site], _wanted: FetchWindow) -> Iterator[FetchedBasinData]:
        """Yield the rating of each gauge, None where there is none."""
        return by_request(sites, self._links, self._rating)

    def _links(self, part: Sequence[Site]) -> Links:
        found: dict[str, str] = {}
        for names in in_lists([f"'{site.basin}'" for site in part]):
            query = {"filter": f"monitoring_location_id IN ({','.join(names)})"}
            for feature in features(self._service, "ratings", query, path="/search"):
                found[str(feature.get("id"))] = _link(feature.get("assets"))
        return found

    def _rating(self, site: Site, links: Links) -> NewRating | None:
        for name in (f"{site.basin}.{kind}.rdb" for kind in TYPES):
            link = links.get(name)
            if link is None:
                continue
            if not self._service.is_own(link):
                where = excerpt(link[:80])
                raise FeedProblem(f"The file {name} is not at the service ({where}), and no other is asked.")
            try:
                return NewRating(table=self._service.read(_text, link, media="text/plain"), source=SOURCE)
            except NotThere:
                return None
        return None


def _link(assets: object) -> str:
    """Return where an item's file is, as the service states it."""
    data = assets.get("data") if isinstance(assets, dict) else None
    return str(data.get("href")) if isinstance(data, dict) else ""


def _text(body: bytes) -> str:
    if not body.startswith(b"#"):
        raise Broken("the answer is not a file of the type RDB")
    if len(body) > MAX_CHARACTERS:
        raise FeedProblem(f"The rating file has more than {MAX_CHARACTERS} bytes: nothing of the basin was taken.")
    return body.decode("utf-8", "replace")


def ratings_feed(_settings: RatingsSettings, access: FeedAccess) -> RatingsFeed:
    """Open a feed of rating tables."""
    settings = UsgsService.load()
    return RatingsFeed(access.service(settings.usgs_ratings_url, settings.usgs_key, "FRESHET_USGS_KEY"))
