"""Answers about weather forecasts and feeds."""

from datetime import date, datetime
from typing import Any

from pydantic import Field

from app.http.base_schema import Missing, Model, next_page
from records.feeds.feeds import BasinStatus


class WeatherIdentity(Model):
    """The identity of a weather forecast."""

    id: str = Field(examples=["01a1f9952f438adb871a00"])
    source: str = Field(description="The provider.", examples=["open-meteo"])
    model: str = Field(description="The weather model.", examples=["ncep_gefs025"])
    reference_time: datetime = Field(description="Reference time of the model run.")
    licence: str | None = Field(description="The source's licence; null where it names none.")
    credit: str | None = Field(description="The attribution to show with the data; null where none is required.")


class WeatherSkill(Model):
    """How well the forecasts of a weather model agree with the weather that came."""

    issues: int = Field(description="Number of its past issues that were compared; 0: the skill is assumed.")
    correlations: dict[str, list[float]] = Field(
        description="Correlation of the normal scores of forecast and observed weather, by variable: on the reference "
        "day, and on each day after it."
    )


class WeatherUsed(WeatherIdentity):
    """The weather forecast used by a run."""

    available_time: datetime = Field(description="Readable since this instant, for all basins of the run.")
    skill: WeatherSkill


class WeatherIssue(WeatherIdentity):
    """A weather forecast in a list."""

    operational: bool = Field(
        description="Whether forecasts use it by default: it came from a feed, an admin or the command line. One that "
        "was sent with an operator's key is used only by forecasts that name it."
    )
    created_at: datetime = Field(description="When its first basin was stored, by the machine's clock.")


class WeatherPage(Model):
    """Weather forecasts, the latest stored first."""

    weather: list[WeatherIssue]
    next: str | None = next_page("/v1/weather?limit=100&after=01a1f9952f438adb871a00")


class WeatherOfBasin(Model):
    """Contents of a weather forecast for a basin."""

    basin: str
    available_time: datetime = Field(description="Readable since this instant.")
    first_day: date
    last_day: date
    traces: int = Field(description="Number of traces.")
    variables: list[str]


class WeatherDetail(WeatherIssue):
    """A weather forecast with its contents for each basin."""

    basins: list[WeatherOfBasin]


class BasinWeather(WeatherIdentity):
    """The forecast weather of a basin."""

    available_time: datetime = Field(description="Readable since this instant.")
    basin: str
    units: dict[str, str] = Field(description="Unit of each variable.")
    time: list[date] = Field(description="The valid days: calendar days at the gauge.")
    traces: dict[str, dict[str, list[float]]] = Field(
        description="By the label of the trace, each variable's value on each day."
    )


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
    fetched_at: datetime | None = Field(
        description="Time of the last successful fetch of the usual days, or else of the first of other days; null if "
        "there was none."
    )
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
