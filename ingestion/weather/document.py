"""Weather forecasts as JSON documents (`jobspec.new_data`), and assembled from the traces of basins."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from pydantic import ValidationError

from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput
from hydrology.weather.forcing import Trace, WeatherForecast, WeatherIssue, WeatherRefused
from ingestion.base import SourceError, SourceFile
from jobspec.new_data import WeatherDocument

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

    `forecasts` are of the usable basins, without duplicates; `refused` has the reason by unusable basin.
    """

    issue: WeatherIssue
    forecasts: Sequence[WeatherForecast]
    refused: Mapping[str, str]


def assembled(
    issue: WeatherIssue, basins: Iterable[tuple[str, Sequence[Trace]]], units: Mapping[str, str]
) -> WeatherFile:
    """Check each basin's traces in the units that the file states."""
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


def parse_json(file: SourceFile, content: bytes, received: datetime) -> WeatherFile:
    """Read a weather forecast from a JSON document."""
    try:
        document = WeatherDocument.model_validate_json(content)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_context=False, include_input=False)[0]
        names = [str(part) for part in fault["loc"][:1] if part in WeatherDocument.model_fields]
        place = f"its field {names[0]} cannot be read" if names else "it cannot be read"
        remedy = "write a document as the documentation of POST /v1/weather shows it"
        raise SourceError(file.name, f"is not a weather forecast: {place}", remedy) from None
    reference, available = (
        instant(at.isoformat()) for at in (document.reference_time, document.available_time or received)
    )
    if reference is None or available is None:
        raise SourceError(file.name, "has an instant outside the years 1 to 9999", "correct it")
    issue = WeatherIssue(
        source=document.source,
        model=document.model,
        reference_time=reference,
        available_time=available,
        licence=document.licence,
        credit=document.credit,
    )
    return assembled(issue, _basins(document), document.units)


def _basins(document: WeatherDocument) -> Iterator[tuple[str, list[Trace]]]:
    for basin, weather in document.basins.items():
        days = np.array(weather.time, dtype="datetime64[D]")
        traces = [
            Trace(label, days, {name: np.array(values, np.float32) for name, values in by_name.items()})
            for label, by_name in weather.traces.items()
        ]
        yield basin, traces
