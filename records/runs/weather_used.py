"""The weather forecast that a run used, kept as JSON with it: its identity and its credit outlive the forecast."""

from dataclasses import dataclass
from datetime import datetime

from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWeather:
    """A weather forecast, as `records.weather.weather_issues.Issue` has it.

    Attributes:
        available_time: of the last of the run's basins.
    """

    __pydantic_config__ = CLOSED

    id: str
    source: str
    model: str
    reference_time: datetime
    available_time: datetime
    licence: str | None
    credit: str | None
