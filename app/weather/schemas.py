"""Answers about weather forecasts."""

from datetime import date, datetime

from pydantic import ConfigDict, Field

from app.http.base_schema import Model
from app.weather.example import ISSUE, WEATHER


class WeatherIdentity(Model):
    """What a weather forecast is."""

    id: str = Field(examples=["01a1f9952f438adb871a00"])
    source: str = Field(description="Who gave it.", examples=["open-meteo"])
    model: str = Field(description="What computed it.", examples=["ncep_gefs025"])
    reference_time: datetime = Field(description="When its computation began.")
    licence: str | None = Field(description="Of the source; null where it names none.")
    credit: str | None = Field(
        description="What is to be said of the source wherever this is shown; null where nothing."
    )


class WeatherUsed(WeatherIdentity):
    """A weather forecast that a run used."""

    available_time: datetime = Field(description="From when on it could be read, of all basins of the run.")


class WeatherIssue(WeatherIdentity):
    """A weather forecast in a list."""

    operational: bool = Field(
        description="Whether forecasts take it unasked: it came from a feed, an admin or the command line. One that "
        "was sent with an operator's key is used where a forecast names it."
    )
    created_at: datetime = Field(description="When its first basin was kept, by the machine's clock.")


class WeatherPage(Model):
    """Weather forecasts, the last kept first."""

    weather: list[WeatherIssue]
    next: str | None = Field(
        description="Where the next page is, also in the `Link` header; null on the last page.",
        examples=["/v1/weather?limit=100&after=01a1f9952f438adb871a00"],
    )


class WeatherOfBasin(Model):
    """What a weather forecast holds of a basin."""

    basin: str
    available_time: datetime = Field(description="From when on it could be read.")
    first_day: date
    last_day: date
    traces: int = Field(description="How many ways the weather may go.")
    variables: list[str]


class WeatherDetail(WeatherIssue):
    """A weather forecast, and what it holds of each basin."""

    model_config = ConfigDict(json_schema_extra={"examples": [ISSUE]})

    basins: list[WeatherOfBasin]


class BasinWeather(WeatherUsed):
    """The weather that is forecast for a basin."""

    model_config = ConfigDict(json_schema_extra={"examples": [WEATHER]})

    basin: str
    units: dict[str, str] = Field(description="Of each variable.")
    time: list[date] = Field(description="The valid days: calendar days where the gauge is.")
    traces: dict[str, dict[str, list[float]]] = Field(
        description="By the label of the trace, each variable's value on each day."
    )
