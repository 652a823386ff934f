"""Answers about weather forecasts, and about bridges between weather products."""

from datetime import date, datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.http.base_schema import EXPLAINED, Missing, Model, next_page
from app.http.shown import As, model_of
from hydrology.base.doc import Why
from hydrology.weather import forcing
from hydrology.weather.bridge import Skill
from records.database.stored import as_values
from records.weather import bridges, weather_issues

ISSUE = As("WeatherIssue")
OF_BASIN = As(
    "WeatherOfBasin",
    omit=("issue_id", "sha256", "traces"),
    rename=(("basin_id", "basin"), ("first", "first_day"), ("last", "last_day"), ("trace_count", "traces")),
)
WEATHER_USED = As("WeatherUsed", omit=("recalibration",), exact=True)


class WeatherPage(Model):
    """Weather forecasts, the latest stored first."""

    weather: list[Annotated[weather_issues.Issue, ISSUE]]
    next: str | None = next_page("/v1/weather?limit=100&after=01a1f9952f438adb871a00")


class WeatherDetail(model_of(weather_issues.Issue, ISSUE)):  # type: ignore[misc]
    """A weather forecast with its contents for each basin."""

    basins: list[Annotated[weather_issues.BasinPart, OF_BASIN]]


class BasinWeather(model_of(forcing.WeatherIssue, As("ForecastWeather"))):  # type: ignore[misc]
    """The forecast weather of a basin."""

    id: str = Field(examples=["01a1f9952f438adb871a00"])
    basin: str
    units: dict[str, str] = Field(description="Unit of each variable.")
    time: list[date] = Field(description="The valid days: calendar days at the gauge.")
    traces: dict[str, dict[str, list[float]]] = Field(
        description="By the label of the trace, each variable's value on each day."
    )


def detail(session: Session, issue: str, at: datetime) -> WeatherDetail:
    """Return a weather forecast as known at an instant."""
    stored = weather_issues.get(session, issue)
    return WeatherDetail(**ISSUE.values(stored), basins=weather_issues.parts_of(session, issue, at))


def of_basin(session: Session, issue: str, basin: str, at: datetime) -> BasinWeather:
    forecast = weather_issues.read(session, issue, basin, at)
    return BasinWeather(
        id=issue,
        **as_values(forecast.issue),
        basin=basin,
        units=dict(forecast.units),
        time=forecast.period.days,
        traces={
            label: {name: values[trace] for name, values in forecast.values.items()}
            for trace, label in enumerate(forecast.traces)
        },
    )


class BridgedBasin(Model):
    """A bridge's corrections for a basin."""

    basin: str
    pooled_from: list[str] = Field(
        description="The similar basins that its corrections are the mean of; empty if fitted here."
    )
    pooled_reason: Annotated[str | None, Why("It was fitted here.")] = Field(
        description="Why it was not fitted here; null where it was."
    )
    day_offset: float = Field(
        description="How much earlier the source product's days begin, in days: at 0.8 a day's "
        "precipitation is 20 % of that product's value for the day and 80 % of its value for the next. If it is "
        "above 0, the last day waits for the next."
    )
    factors: dict[str, list[float]] = Field(
        description="Factors of precipitation, radiation and vapour pressure, by month."
    )
    steps: dict[str, list[float]] = Field(description="Additive correction of temperatures, °C, by month.")
    limited: list[str] = Field(description="Variables whose correction reached its limit in some month.")
    held_out: Annotated[
        Annotated[Skill, As(name="HeldOut", exact=True)] | None, Why("It has no days of its own to hold out.")
    ]
    applied_at: Annotated[datetime | None, Why("It has not been applied here.")] = Field(
        description="When it was last applied; null where it has not been."
    )
    hash: str = Field(description="Hash of its corrections.")
    missing: Missing = EXPLAINED


BRIDGE = As(
    "Bridge",
    doc="A fit of a bridge.",
    omit=("refused", "code_version"),
    rename=(("first", "first_day"), ("last", "last_day")),
    missing=True,
)


class BridgeDetail(model_of(bridges.Bridge, BRIDGE)):  # type: ignore[misc]
    """A fit of a bridge with its corrections for each basin."""

    basins: list[BridgedBasin] = Field(description="In the order of their identifiers.")
    refused: dict[str, str] = Field(description="Why other basins have no corrections.")


class Bridges(Model):
    """The newest fit of each bridge, in the order of their names."""

    bridges: list[Annotated[bridges.Bridge, BRIDGE]]


def bridge_detail(session: Session, bridge: str) -> BridgeDetail:
    stored = bridges.get(session, bridge)
    basins = [_bridged(part, stored) for part in bridges.parts_of(session, stored.id)]
    return BridgeDetail(**BRIDGE.values(stored), basins=basins, refused=stored.refused)


def _bridged(part: bridges.BridgePart, bridge: bridges.Bridge) -> BridgedBasin:
    missing = {}
    if part.applied_at is None and bridge.model is not None:
        missing["applied_at"] = "Weather forecasts are corrected when used: no corrected weather is stored."
    return BridgedBasin.from_records(part, part.corrections, held_out=part.skill, hash=part.sha256, missing=missing)
