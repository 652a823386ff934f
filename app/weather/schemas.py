"""Answers about weather forecasts."""

from datetime import date, datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy.orm import Session

from app.http.base_schema import Model, next_page
from app.http.shown import As, model_of
from hydrology.weather import forcing
from records.database.stored import as_values
from records.weather import weather_issues

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
