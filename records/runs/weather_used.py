"""The weather forecast of a run, stored as JSON with it: its identity and credit outlive the forecast."""

from dataclasses import dataclass
from datetime import datetime

from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWeather:
    """A weather forecast, as in `records.weather.weather_issues.Issue`.

    Attributes:
        available_time: the latest of the run's basins.
    """

    __pydantic_config__ = CLOSED

    id: str
    source: str
    model: str
    reference_time: datetime
    available_time: datetime
    licence: str | None
    credit: str | None
