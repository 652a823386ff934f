"""Assembles traces of basins into weather forecasts. A faulty one is refused without the others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput
from hydrology.weather.forcing import Trace, WeatherForecast, WeatherIssue, WeatherRefused

MAX_BASINS = 10_000


def instant(text: str) -> datetime | None:
    """Parse an RFC 3339 instant with its offset to UTC, or return None."""
    try:
        read = datetime.fromisoformat(text)
        return None if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@dataclass(frozen=True, slots=True)
class WeatherFile:
    """The content of a weather forecast file.

    Attributes:
        issue: the forecast's issue.
        forecasts: of its usable basins, without duplicates.
        refused: the reason by unusable basin.
    """

    issue: WeatherIssue
    forecasts: Sequence[WeatherForecast]
    refused: Mapping[str, str]


def assembled(
    issue: WeatherIssue, basins: Iterable[tuple[str, Sequence[Trace]]], units: Mapping[str, str]
) -> WeatherFile:
    """Check the traces of each basin.

    Args:
        basins: the identifiers that a file states, and their traces.
        units: that the file states, by variable.
    """
    forecasts: dict[str, WeatherForecast] = {}
    refused: dict[str, str] = {}
    for number, (stated, traces) in enumerate(basins, 1):
        try:
            basin = basin_id(stated)
        except InvalidInput:
            refused[f"basin {number}"] = f"The identifier of basin {number} is none: write one like USGS-01013500."
            continue
        if basin in forecasts or basin in refused:
            forecasts.pop(basin, None)
            refused[basin] = f"{basin}: it comes twice: send each basin once."
            continue
        try:
            forecasts[basin] = WeatherForecast.of_traces(issue, basin, traces, units)
        except WeatherRefused as refusal:
            refused[basin] = str(refusal)
    return WeatherFile(issue, list(forecasts.values()), refused)
