"""/v1/feeds"""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.http.api_keys import AnyKey, By, Operator
from app.http.dependencies import OpenDatabase, Reading, ServiceClock
from app.http.problems import documented_keyed, documented_writing
from app.weather.feeds import service
from app.weather.feeds.schemas import Feed, FeedDetail, Feeds
from app.weather.feeds.service import NotYourFeed
from jobspec.feeds import NewFeed
from jobspec.fields import NAME
from records.access import audit
from records.weather import feeds
from records.weather.feeds import FeedConflict, UnknownFeed
from records.weather.product_credits import ProductConflict

router = APIRouter(prefix="/feeds", tags=["feeds"])

ASK_FIRST = "private, no-cache"
FeedName = Annotated[str, Path(description="A feed's name.", pattern=f"^{NAME}$", examples=["usgs-flow"])]


@router.get("", summary="List feeds", responses=documented_keyed())
def list_feeds(session: Reading, key: AnyKey, response: Response) -> Feeds:
    """All feeds in the order of their names, with the outcome of their last fetch."""
    response.headers["Cache-Control"] = ASK_FIRST
    return Feeds(feeds=[service.answer(feed, key) for feed in feeds.list_feeds(session)])


@router.post(
    "",
    status_code=201,
    summary="Create a feed",
    responses=documented_writing(FeedConflict, ProductConflict),
)
def create_feed(
    response: Response, key: Operator, actor: By, database: OpenDatabase, clock: ServiceClock, new: NewFeed
) -> Feed:
    """It fetches nothing by itself: post a job of the kind `fetch` that names it, or let a schedule post it. The feed
    of an operator's key writes the basins that the key registered. That of an admin's key writes every basin, but files
    write no gauge with a published source."""
    now = clock.wall()
    with database.transaction() as session:
        feed = feeds.create(session, new, key.id, now)
        audit.record(session, actor, "feed created", feed.id, now, name=feed.name)
    response.headers["Location"] = f"/v1/feeds/{feed.name}"
    return service.answer(feed, key)


@router.get("/{feed}", summary="Read a feed", responses=documented_keyed(UnknownFeed))
def read_feed(session: Reading, key: AnyKey, response: Response, feed: FeedName) -> FeedDetail:
    """Its settings, and the outcome of its last fetch, in total and for each basin."""
    response.headers["Cache-Control"] = ASK_FIRST
    return service.detail(session, feeds.get(session, feed), key)


@router.delete(
    "/{feed}", status_code=204, summary="Remove a feed", responses=documented_writing(UnknownFeed, NotYourFeed)
)
def delete_feed(key: Operator, actor: By, database: OpenDatabase, clock: ServiceClock, feed: FeedName) -> None:
    """Its data and their credits stay. A schedule that uses it fails from then on."""
    with database.transaction() as session:
        stored = service.owned(session, key, feed)
        feeds.remove(session, stored)
        audit.record(session, actor, "feed removed", stored.id, clock.wall(), name=stored.name)
