"""/v1/feeds"""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from sqlalchemy.orm import Session

from app.exports.fields import FieldFilter, fields_of, schema_of
from app.http.api_keys import AnyKey, KeyFirstRoute, OperatorWriter, require_owner
from app.http.base_schema import why_null
from app.http.conditional import ASK_FIRST, cached
from app.http.dependencies import Reading
from app.http.problems import Forbidden, documented_keyed, documented_writing
from app.weather.schemas import BasinOfFeed, Feed, FeedDetail, Feeds, Hole
from jobspec.feeds import NewFeed
from jobspec.fields import NAMED
from records.access.keys import Key
from records.feeds import feeds
from records.feeds.feeds import FeedConflict, UnknownFeed
from records.feeds.product_credits import ProductConflict

_WHY = {
    "product": "It brings discharge, which is stored under its gauge's product, or weather forecasts.",
    "last_fetch_at": "It has not been asked yet.",
    "last_success_at": "No fetch has succeeded for all of its basins yet.",
    "last_error": "It has not failed yet.",
    "last_error_at": "It has not failed yet.",
}
WITHHELD = "Shown to the key that created the feed and to an admin: it names files."


class NotYourFeed(Forbidden):
    """The feed belongs to another key or to the command line."""

    kind = "not-your-feed"


def owned(session: Session, key: Key, name: str) -> feeds.Feed:
    """Return a feed that a key may remove; an admin's key may take any.

    Raises:
        UnknownFeed: there is none of that name.
        NotYourFeed: it belongs to another key.
    """
    feed = feeds.get(session, name)
    require_owner(key, feed.created_by, NotYourFeed, f"The feed {feed.name}")
    return feed


def feed_of(feed: feeds.Feed, key: Key) -> Feed:
    """Return the parts of a feed visible to a key."""
    return Feed(**_fields(feed, key))


def feed_detail(session: Session, feed: feeds.Feed, key: Key) -> FeedDetail:
    """Return the parts of a feed and its outcomes by basin visible to a key."""
    shown = []
    for one in feeds.basins_of(session, feed):
        values = asdict(one)
        basin = values["basin"] = values.pop("basin_id")
        del values["record_since"]
        values["holes"] = holes(feed.name, basin, one.holes)
        if _withheld(key, feed):
            values["reason"] = None
        shown.append(BasinOfFeed(**values))
    return FeedDetail(**_fields(feed, key), basins=shown)


def holes(feed: str, basin: str, found: Iterable[feeds.Hole]) -> list[Hole]:
    """Return holes in a basin's record, each with the command that fetches it from a feed."""
    return [
        Hole.model_validate(hole | {"fetch": feeds.fetch_command(feed, basin, hole["first"], hole["last"])})
        for hole in found
    ]


def _fields(feed: feeds.Feed, key: Key) -> dict[str, Any]:
    fields = asdict(feed) | {"adapter": feed.settings["adapter"]}
    del fields["created_by"], fields["origin"]
    missing = why_null(fields, _WHY)
    if _withheld(key, feed):
        hidden = ("settings", "last_error") if feed.last_error else ("settings",)
        fields |= dict.fromkeys(hidden)
        missing |= dict.fromkeys((*hidden, "basins.reason"), WITHHELD)
    return fields | {"missing": missing}


def _withheld(key: Key, feed: feeds.Feed) -> bool:
    return feed.settings["adapter"] == "files" and not key.is_admin and feed.created_by != key.id


router = APIRouter(prefix="/feeds", tags=["feeds"], route_class=KeyFirstRoute)

FeedName = Annotated[str, Path(description="A feed's name.", pattern=NAMED, examples=["usgs-flow"])]


@router.get(
    "",
    summary="List feeds",
    response_model=schema_of(Feeds),
    responses=documented_keyed(),
    dependencies=[cached(ASK_FIRST)],
)
def list_feeds(session: Reading, key: AnyKey, fields: Annotated[FieldFilter, fields_of(Feeds)]) -> Response:
    """All feeds in the order of their names, with the outcome of their last fetch."""
    return fields.of(Feeds(feeds=[feed_of(feed, key) for feed in feeds.list_feeds(session)]))


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
    return feed_of(feed, writer.key)


@router.get("/{feed}", summary="Read a feed", responses=documented_keyed(UnknownFeed), dependencies=[cached(ASK_FIRST)])
def read_feed(session: Reading, key: AnyKey, feed: FeedName) -> FeedDetail:
    """Its settings, and the outcome of its last fetch, in total and for each basin."""
    return feed_detail(session, feeds.get(session, feed), key)


@router.delete(
    "/{feed}", status_code=204, summary="Remove a feed", responses=documented_writing(UnknownFeed, NotYourFeed)
)
def delete_feed(writer: OperatorWriter, feed: FeedName) -> None:
    """Its data and their credits stay. A schedule that uses it fails from then on."""
    with writer.database.transaction() as session:
        stored = owned(session, writer.key, feed)
        feeds.remove(session, stored)
        writer.record(session, "feed removed", stored.id, name=stored.name)
