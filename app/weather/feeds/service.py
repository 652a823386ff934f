"""Checks requests about feeds and builds their answers."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from app.http.api_keys import require_owner
from app.http.base_schema import why_null
from app.http.problems import Forbidden
from app.weather.feeds.schemas import BasinOfFeed, Feed, FeedDetail, Hole
from records.access.keys import Key
from records.weather import feeds

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


def answer(feed: feeds.Feed, key: Key) -> Feed:
    """Return the parts of a feed visible to a key."""
    return Feed(**_fields(feed, key))


def detail(session: Session, feed: feeds.Feed, key: Key) -> FeedDetail:
    """Return the parts of a feed and its outcomes by basin visible to a key."""
    shown = []
    for one in feeds.basins_of(session, feed):
        values = asdict(one)
        basin = values["basin"] = values.pop("basin_id")
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
