"""Answers about weather forecasts."""

from datetime import date, datetime

from pydantic import Field

from app.http.base_schema import Model, next_page


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
