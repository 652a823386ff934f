"""What a run was asked for, stored as JSON with it: its weather forecast, which it outlives, and its changes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from records.database.json_columns import CLOSED

OBSERVED = "observed"
"""The name of observed weather, beside those of weather forecasts."""


def name_of_weather(source: str, model: str) -> str:
    """Return the name of a weather model's forecasts."""
    return f"{source}/{model}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherSkill:
    """How well a weather model's forecasts agree with the weather that came.

    Attributes:
        issues: number of past issues behind it; 0: it is assumed.
        correlations: of normal scores, by variable, for each day from the reference day on
            (`hydrology.weather.forecast_errors`).
    """

    __pydantic_config__ = CLOSED

    issues: int
    correlations: dict[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecalibration:
    """How forecasts with a weather model are recalibrated (`hydrology.uncertainty.recalibration`).

    Attributes:
        fitted_on: the T0 within which it was fitted, `FIRST..LAST`; None where it is assumed.
        issue_days: number of T0 that it was fitted to; reforecast_days: those of them of reforecasts alone.
        days: number of observed flows that it was fitted to, over all basins and leads.
        centre, spread: the mean and the standard deviation of the scores, by lead.
    """

    __pydantic_config__ = CLOSED

    fitted_on: str | None
    issue_days: int
    reforecast_days: int
    days: int
    centre: list[float]
    spread: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWeather:
    """A weather forecast, as in `records.weather.weather_issues.Issue`.

    Attributes:
        available_time: the latest of the run's basins.
        skill: of its model, as known when the run was issued.
        recalibration: of the version's forecasts with its model.
    """

    __pydantic_config__ = CLOSED

    id: str
    source: str
    model: str
    reference_time: datetime
    available_time: datetime
    licence: str | None
    credit: str | None
    skill: WeatherSkill
    recalibration: RunRecalibration

    @property
    def name(self) -> str:
        """Its source and model."""
        return name_of_weather(self.source, self.model)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWhatIf:
    """The request of a what-if run.

    Attributes:
        changes: in the form of `jobspec.changes.Changes.as_json`; empty for a run to compare with.
        note: the stated purpose; None without one.
        by: the name of the key that posted the job, or the user of the command line; None if unknown.
        base: the run without changes to compare with; None if the run itself has none.
    """

    __pydantic_config__ = CLOSED

    changes: dict[str, Any]
    note: str | None = None
    by: str | None = None
    base: str | None = None
