"""What a run was asked for, stored as JSON with it: its weather forecast, which it outlives, and its changes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from records.database.json_columns import CLOSED


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
class RunWeather:
    """A weather forecast, as in `records.weather.weather_issues.Issue`.

    Attributes:
        available_time: the latest of the run's basins.
        skill: of its model, as known when the run was issued.
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
