"""What a run was asked for, stored as JSON with it: its weather forecast, which it outlives, and its changes."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

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
