"""A weather forecast as a JSON document (`jobspec.weather`)."""

from collections.abc import Iterator
from datetime import datetime

import numpy as np
from pydantic import ValidationError

from hydrology.weather.forcing import Trace, WeatherIssue
from ingestion.base import SourceError, SourceFile
from ingestion.weather.basins import WeatherFile, assembled, instant
from jobspec.weather import WeatherDocument


def parse_json(file: SourceFile, content: bytes, received: datetime) -> WeatherFile:
    """Read a document.

    Raises:
        SourceError: it is not such a document.
        InvalidInput: an instant cannot be used.
    """
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
