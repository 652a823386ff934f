"""/v1/feeds: the sources of discharge and weather, and the outcome of their fetches."""

from collections.abc import Iterable
from datetime import date, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.fields import FieldFilter, documented_list, fields_of
from app.http.api_keys import AnyKey, KeyFirstRoute, OperatorWriter, require_owner
from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.conditional import ASK_FIRST, cached
from app.http.dependencies import Reading
from app.http.problems import Forbidden, Unauthorized, documented, documented_writing
from app.http.shown import As, model_of
from hydrology.base.doc import Why
from jobspec.feed_kinds import FEED_KINDS, MissingFeedKind, NewFeed
from jobspec.fields import NAMED
from records.access.keys import Key
from records.feeds import feeds
from records.feeds.feeds import FeedConflict, ProductConflict, UnknownFeed

WITHHELD = "Shown to the key that created the feed and to an admin: it names files."
_NO_ERROR = Why("It has not failed yet.")


class Hole(Model):
    """Days inside a basin's record that have no value."""

    first: date
    last: date
    variables: list[str] = Field(description="Variables that lack every one of these days.")
    fetch: str = Field(description="The command that fetches them.")


_FETCHED = As(omit=("record_since",), rename=(("basin_id", "basin"),))


class BasinOfFeed(model_of(feeds.FetchedBasin, _FETCHED)):  # type: ignore[misc]
    """Outcome of the last fetch of a basin."""

    holes: list[Hole] = Field(
        description="Days without a value inside its record, the newest spans first. Every fetch requests some of them "
        "again, however old."
    )
    warnings: list[str] = Field(description="Doubtful points in the last fetched data.")


class Feed(Model):
    """A feed and the outcome of its last fetch."""

    id: str
    name: str
    adapter: str = Field(description="The adapter of the service it uses.")
    settings: dict[str, Any] | None = Field(description="Its settings, without those left at their defaults.")
    product: Annotated[
        str | None, Why("It brings discharge, which is stored under its gauge's product, or weather forecasts.")
    ] = Field(description="The product that its weather is stored under.")
    created_at: datetime
    last_fetch_at: Annotated[datetime | None, Why("It has not been asked yet.")] = Field(
        description="By the service's clock, as the other two."
    )
    last_success_at: Annotated[datetime | None, Why("No fetch has succeeded for all of its basins yet.")] = Field(
        description="Time of the last fetch without a failed basin."
    )
    last_error: Annotated[str | None, _NO_ERROR] = Field(description="Why it last failed, in total or for some basin.")
    last_error_at: Annotated[datetime | None, _NO_ERROR]
    missing: Missing = EXPLAINED


class FeedDetail(Feed):
    """A feed and the outcome of its last fetch for each basin."""

    basins: list[BasinOfFeed] = Field(description="In the order of their identifiers.")


class Feeds(Model):
    """All feeds in the order of their names."""

    feeds: list[Feed]


class NotYourFeed(Forbidden):
    """The feed belongs to another key or to the command line."""

    kind = "not-your-feed"


def owned(session: Session, key: Key, name: str) -> feeds.Feed:
    """Return a feed that a key may remove; an admin's key may take any."""
    feed = feeds.get(session, name)
    require_owner(key, feed.created_by, NotYourFeed, f"The feed {feed.name}")
    return feed


def feed_of(feed: feeds.Feed, key: Key) -> Feed:
    """Return what a key may see of a feed."""
    return Feed.from_records(feed, **_visible(feed, key))


def feed_detail(session: Session, feed: feeds.Feed, key: Key) -> FeedDetail:
    """Return what a key may see of a feed and of its outcomes by basin."""
    hidden = {"reason": None} if _withheld(key, feed) else {}
    basins = [
        BasinOfFeed.from_records(one, holes=holes(feed.name, one.basin_id, one.holes), **hidden)
        for one in feeds.basins_of(session, feed)
    ]
    return FeedDetail.from_records(feed, **_visible(feed, key), basins=basins)


def holes(feed: str, basin: str, found: Iterable[feeds.Hole]) -> list[Hole]:
    """Return holes in a basin's record, each with the command that fetches it from a feed."""
    return [
        Hole.model_validate(hole | {"fetch": feeds.fetch_command(feed, basin, hole["first"], hole["last"])})
        for hole in found
    ]


def _visible(feed: feeds.Feed, key: Key) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    if feed.adapter not in FEED_KINDS:
        shown |= {"last_error": str(MissingFeedKind(feed.adapter))}
        shown |= {"missing": {} if feed.last_error_at else {"last_error_at": "It cannot be fetched at all."}}
    if not _withheld(key, feed):
        return shown
    hidden = ("settings", "last_error") if feed.last_error else ("settings",)
    return shown | dict.fromkeys(hidden) | {"missing": dict.fromkeys((*hidden, "basins.reason"), WITHHELD)}


def _withheld(key: Key, feed: feeds.Feed) -> bool:
    return feed.adapter == "files" and not key.is_admin and feed.created_by != key.id


router = APIRouter(prefix="/feeds", tags=["feeds"], route_class=KeyFirstRoute)

FeedName = Annotated[str, Path(description="A feed's name.", pattern=NAMED, examples=["usgs-flow"])]


@router.get("", summary="List feeds", **documented_list(Feeds, Unauthorized, cache_control=ASK_FIRST))
def list_feeds(session: Reading, key: AnyKey, fields: Annotated[FieldFilter, fields_of(Feeds)]) -> Response:
    """All feeds in the order of their names, with the outcome of their last fetch."""
    return fields.of(Feeds(feeds=[feed_of(feed, key) for feed in feeds.list_feeds(session)]))


@router.post("", status_code=201, summary="Create a feed", responses=documented_writing(FeedConflict, ProductConflict))
def create_feed(response: Response, writer: OperatorWriter, new: NewFeed) -> Feed:
    """It fetches nothing by itself: post a job of the kind `fetch` that names it, or let a schedule post it. The feed
    of an operator's key writes the basins that the key registered. That of an admin's key writes every basin, but files
    write no gauge with a published source."""
    with writer.database.transaction() as session:
        feed = feeds.create(session, new, writer.actor.key_id, writer.now)
        writer.record(session, "feed created", feed.id, name=feed.name)
    response.headers["Location"] = f"/v1/feeds/{feed.name}"
    return feed_of(feed, writer.key)


@router.get(
    "/{feed}", summary="Read a feed", responses=documented(Unauthorized, UnknownFeed), dependencies=[cached(ASK_FIRST)]
)
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
