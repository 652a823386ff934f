"""Schemas of feeds in answers."""

from datetime import date, datetime
from typing import Any

from pydantic import Field

from app.http.base_schema import Missing, Model
from records.weather.feeds import BasinStatus


class Hole(Model):
    """Days inside a basin's record that have no value."""

    first: date
    last: date
    variables: list[str] = Field(description="Variables that lack every one of these days.")
    fetch: str = Field(description="The command that fetches them.")


class BasinOfFeed(Model):
    """Outcome of the last fetch of a basin."""

    basin: str
    status: BasinStatus
    new_days: int = Field(description="Number of new days of any variable; for a weather forecast, its days.")
    revised_days: int = Field(
        description="Number of days whose value or flag was replaced. A log retains the old ones."
    )
    reason: str | None = Field(description="Why it failed, or why there were no data; null otherwise.")
    tried_at: datetime = Field(description="Time of the last fetch, by the service's clock.")
    fetched_at: datetime | None = Field(description="Time of the last successful fetch; null if there was none.")
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
    product: str | None = Field(description="The product that its weather is stored under.")
    created_at: datetime
    last_fetch_at: datetime | None = Field(description="By the service's clock, as the other two.")
    last_success_at: datetime | None = Field(description="Time of the last fetch without a failed basin.")
    last_error: str | None = Field(description="Why it last failed, in total or for some basin.")
    last_error_at: datetime | None
    missing: Missing


class FeedDetail(Feed):
    """A feed and the outcome of its last fetch for each basin."""

    basins: list[BasinOfFeed] = Field(description="In the order of their identifiers.")


class Feeds(Model):
    """All feeds in the order of their names."""

    feeds: list[Feed]
