"""Feeds as they are told."""

from datetime import date, datetime
from typing import Any

from pydantic import ConfigDict, Field

from app.http.base_schema import Missing, Model
from app.weather.feeds.example import FEED, FEED_DETAIL
from records.weather.feeds import BasinStatus


class Hole(Model):
    """Days inside a basin's record that have no value."""

    first: date
    last: date
    variables: list[str] = Field(description="Those that lack every one of these days.")
    fetch: str = Field(description="The command that asks for them.")


class BasinOfFeed(Model):
    """What came of a basin when the feed was last asked for it."""

    basin: str
    status: BasinStatus
    new_days: int = Field(description="Days of any variable that were not known; of a weather forecast, its days.")
    revised_days: int = Field(description="Days whose value or flag was replaced. The old ones are kept in a log.")
    reason: str | None = Field(description="Why it failed, or why nothing came; null where there is nothing to say.")
    tried_at: datetime = Field(description="When it was last asked for, by the service's clock.")
    fetched_at: datetime | None = Field(description="When it last did not fail; null where it never did.")
    holes: list[Hole] = Field(
        description="Days without a value inside its record, the newest spans first. Every fetch asks for some of them "
        "again, however old."
    )
    warnings: list[str] = Field(description="What is doubtful in what came last.")


class Feed(Model):
    """A feed and how its last fetch ended."""

    model_config = ConfigDict(json_schema_extra={"examples": [FEED]})

    id: str
    name: str
    adapter: str = Field(description="Which service it asks.")
    settings: dict[str, Any] | None = Field(description="What it is told, without what it leaves at its default.")
    product: str | None = Field(description="What its weather is kept under.")
    created_at: datetime
    last_fetch_at: datetime | None = Field(description="By the service's clock, as the other two.")
    last_success_at: datetime | None = Field(description="When it last failed for no basin.")
    last_error: str | None = Field(description="Why it last failed, wholly or for some basin.")
    last_error_at: datetime | None
    missing: Missing


class FeedDetail(Feed):
    """A feed, how its last fetch ended, and what came of each basin."""

    model_config = ConfigDict(json_schema_extra={"examples": [FEED_DETAIL]})

    basins: list[BasinOfFeed] = Field(description="In the order of their identifiers.")


class Feeds(Model):
    """All feeds in the order of their names."""

    feeds: list[Feed]
