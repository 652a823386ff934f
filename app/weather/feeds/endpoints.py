"""/v1/feeds"""

from typing import Annotated

from fastapi import APIRouter, Path, Response

from app.http.api_keys import AnyKey, OperatorWriter
from app.http.conditional import ASK_FIRST, cached
from app.http.dependencies import Reading
from app.http.problems import documented_keyed, documented_writing
from app.weather.feeds import service
from app.weather.feeds.schemas import Feed, FeedDetail, Feeds
from app.weather.feeds.service import NotYourFeed
from jobspec.feeds import NewFeed
from jobspec.fields import NAME
from records.weather import feeds
from records.weather.feeds import FeedConflict, UnknownFeed
from records.weather.product_credits import ProductConflict

router = APIRouter(prefix="/feeds", tags=["feeds"])

FeedName = Annotated[str, Path(description="A feed's name.", pattern=f"^{NAME}$", examples=["usgs-flow"])]


@router.get("", summary="List feeds", responses=documented_keyed(), dependencies=[cached(ASK_FIRST)])
def list_feeds(session: Reading, key: AnyKey) -> Feeds:
    """All feeds in the order of their names, with the outcome of their last fetch."""
    return Feeds(feeds=[service.answer(feed, key) for feed in feeds.list_feeds(session)])


@router.post(
    "",
    status_code=201,
    summary="Create a feed",
    responses=documented_writing(FeedConflict, ProductConflict),
)
def create_feed(response: Response, writer: OperatorWriter, new: NewFeed) -> Feed:
    """It fetches nothing by itself: post a job of the kind `fetch` that names it, or let a schedule post it. The feed
    of an operator's key writes the basins that the key registered. That of an admin's key writes every basin, but files
    write no gauge with a published source."""
    with writer.database.transaction() as session:
        feed = feeds.create(session, new, writer.key.id, writer.now)
        writer.record(session, "feed created", feed.id, name=feed.name)
    response.headers["Location"] = f"/v1/feeds/{feed.name}"
    return service.answer(feed, writer.key)


@router.get("/{feed}", summary="Read a feed", responses=documented_keyed(UnknownFeed), dependencies=[cached(ASK_FIRST)])
def read_feed(session: Reading, key: AnyKey, feed: FeedName) -> FeedDetail:
    """Its settings, and the outcome of its last fetch, in total and for each basin."""
    return service.detail(session, feeds.get(session, feed), key)


@router.delete(
    "/{feed}", status_code=204, summary="Remove a feed", responses=documented_writing(UnknownFeed, NotYourFeed)
)
def delete_feed(writer: OperatorWriter, feed: FeedName) -> None:
    """Its data and their credits stay. A schedule that uses it fails from then on."""
    with writer.database.transaction() as session:
        stored = service.owned(session, writer.key, feed)
        feeds.remove(session, stored)
        writer.record(session, "feed removed", stored.id, name=stored.name)
