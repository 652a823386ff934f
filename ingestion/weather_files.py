"""Weather forecasts from files: JSON documents (`jobspec.new_data`), CSV and NetCDF-CF, one for any basins in each.

CSV has a row for each basin, trace and day, and the columns source, model, reference_time, basin and date, and one for
each variable with its unit, such as precipitation_mm_per_day; optional are trace, available_time, licence and credit.
Values about the whole forecast are the same in every row.

NetCDF-CF has stations, days and realizations, with a forecast_reference_time. The variables have our names
(precipitation, tmax, ...) and state their units. A day is given by the lower bound of its time, or without bounds by
its time, which is then its midnight; either by the calendar at the gauge. The global attributes `institution` and
`source` name provider and model; `license`, `acknowledgement` and `date_issued` are optional and give the licence, the
credit and the time of availability.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pydantic import ValidationError

from hydrology.base.basins import basin_id
from hydrology.base.calendar import Day, Days, instant
from hydrology.base.errors import InvalidInput
from hydrology.base.products import WEATHER
from hydrology.weather.forcing import MAX_LEADS, MAX_TRACES, Array, Trace, WeatherForecast, WeatherIssue, WeatherRefused
from ingestion.base import ANY_FILES, Files, SourceError, SourceFile, column_label
from ingestion.netcdf import StationSeries, is_numeric, numbers, opened
from ingestion.sheet import Sheet
from jobspec.new_data import WeatherDocument

MAX_BASINS = 10_000


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
    try:
        reference, available = (
            at.astimezone(UTC) for at in (document.reference_time, document.available_time or received)
        )
    except OverflowError:
        raise SourceError(file.name, "has an instant outside the years 1 to 9999", "correct it") from None
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


ONLY_TRACE = "0"
"""The default label of a trace."""

_OF_FORECAST = ("source", "model", "reference_time")
_NEEDED = (*_OF_FORECAST, "basin", "date")
_OPTIONAL = ("available_time", "licence", "credit")
_VARIABLES = {quantity.column: quantity for quantity in WEATHER.values()}

_Rows = tuple[list[Day], list[list[float]]]


def parse_csv(file: SourceFile, content: bytes, received: datetime) -> WeatherFile:
    """Read a weather forecast from a CSV table."""
    sheet = Sheet.of_csv(file, content)
    sheet.require(_NEEDED)
    variables = [name for name in sheet.columns if name not in (*_NEEDED, *_OPTIONAL, "trace")]
    for name in variables:
        if name not in _VARIABLES:
            label = column_label(sheet.columns, name, _VARIABLES)
            remedy = f"name it one of {', '.join((*_NEEDED, 'trace', *_OPTIONAL, *_VARIABLES))}"
            raise sheet.fault(f"{label} is not a variable with its unit", remedy, sheet.header)
    result: dict[str, str] = {}
    by_basin: dict[str, dict[str, _Rows]] = {}
    for line, row in sheet.rows:
        _check_same(sheet, result, row, line)
        days, values = by_basin.setdefault(row["basin"], {}).setdefault(row.get("trace") or ONLY_TRACE, ([], []))
        days.append(sheet.day(row["date"], line))
        values.append([sheet.number(row[name], name, line) if row[name] else np.nan for name in variables])
        if len(by_basin) > MAX_BASINS:
            raise sheet.fault(f"there are more than {MAX_BASINS} basins", "split the file", line)
    if not result:
        raise sheet.fault("there is no row after the names of the columns", "give a row for each day")
    names = [_VARIABLES[name].variable for name in variables]
    units = {name: WEATHER[name].unit for name in names}
    return assembled(_issue_of_rows(sheet, result, received), _traces_of_rows(by_basin, names), units)


def _check_same(sheet: Sheet, result: dict[str, str], row: dict[str, str], line: int) -> None:
    """Refuse a row whose values about the whole forecast differ from the first row's."""
    of_row = {name: row[name] for name in (*_OF_FORECAST, *_OPTIONAL) if name in row}
    if not result:
        result |= of_row
    if of_row != result:
        name = next(name for name in result if of_row[name] != result[name])
        raise sheet.fault(f"{name} differs from that in the first row", "give each weather forecast a file", line)


def _issue_of_rows(sheet: Sheet, result: dict[str, str], received: datetime) -> WeatherIssue:
    return WeatherIssue(
        source=result["source"],
        model=result["model"],
        reference_time=_instant(sheet, result["reference_time"], "reference_time"),
        available_time=_instant(sheet, result["available_time"], "available_time")
        if result.get("available_time")
        else received,
        licence=result.get("licence") or None,
        credit=result.get("credit") or None,
    )


def _instant(sheet: Sheet, text: str, name: str) -> datetime:
    try:
        return instant(text)
    except InvalidInput:
        remedy = "write it like 2026-11-22T00:00:00Z, with its offset"
        raise sheet.fault(f"{name} is not an instant", remedy) from None


def _traces_of_rows(by_basin: dict[str, dict[str, _Rows]], names: list[str]) -> Iterator[tuple[str, list[Trace]]]:
    for basin, by_trace in by_basin.items():
        traces = []
        for label, (days, rows) in by_trace.items():
            columns = np.array(rows, dtype=np.float32).reshape(len(days), len(names)).T
            traces.append(Trace(label, np.array(days, dtype="datetime64[D]"), dict(zip(names, columns, strict=True))))
        yield basin, traces


if TYPE_CHECKING:
    from netCDF4 import Dataset

_MAX_TEXT = 500
_MAX_VALUES = 20_000_000  # per variable: a few bytes may state a length that fills the memory
_SPELLINGS = {
    "mm/day": ("mm/day", "mm day-1", "mm d-1", "mm/d"),
    "degC": ("degC", "degree_Celsius", "degrees_Celsius", "celsius"),
    "W/m2": ("W/m2", "W m-2"),
    "Pa": ("Pa",),
    "s": ("s",),
}
"""Spellings of our units."""


def parse_netcdf(file: SourceFile, content: bytes, received: datetime) -> WeatherFile:
    """Read a weather forecast from a NetCDF-CF file."""
    with opened(file, content) as dataset:
        layout = StationSeries(file.name, dataset, "lay it out as NetCDF-CF has an ensemble forecast of stations")
        _check_sizes(layout)
        issue, days, labels = _issue_of_dataset(layout, received), _days(layout), layout.labels() or [ONLY_TRACE]
        values, units = _values(layout)
        by_basin = [
            (
                station,
                [
                    Trace(label, days, {name: array[at, trace] for name, array in values.items()})
                    for trace, label in enumerate(labels)
                ],
            )
            for at, station in enumerate(layout.names())
        ]
        return assembled(issue, by_basin, units)


def _check_sizes(layout: StationSeries) -> None:
    stations, *realizations, days = (len(layout.dataset.dimensions[name]) for name in layout.axes)
    traces = realizations[0] if realizations else 1
    if not (0 < stations <= MAX_BASINS and 0 < traces <= MAX_TRACES and 0 < days <= MAX_LEADS):
        limits = f"{MAX_BASINS} stations, {MAX_TRACES} realizations and {MAX_LEADS} days"
        raise layout.fault(f"has none or more than {limits}")
    if stations * traces * days > _MAX_VALUES:
        raise layout.fault(f"has more than {_MAX_VALUES} values of a variable")


def _issue_of_dataset(layout: StationSeries, received: datetime) -> WeatherIssue:
    reference = layout.found("a forecast_reference_time", standard_name="forecast_reference_time")
    if reference.size != 1:
        raise layout.fault("has not one forecast_reference_time")
    issued = _text(layout.dataset, "date_issued")
    try:
        available = received if issued is None else instant(issued)
    except InvalidInput:
        raise layout.fault("has a date_issued that is not an instant with its offset") from None
    return WeatherIssue(
        source=_text(layout.dataset, "institution") or "",
        model=_text(layout.dataset, "source") or "",
        reference_time=layout.instants(reference).reshape(1)[0].astype(datetime).replace(tzinfo=UTC),
        available_time=available,
        licence=_text(layout.dataset, "license"),
        credit=_text(layout.dataset, "acknowledgement"),
    )


def _text(dataset: "Dataset", name: str) -> str | None:
    text = getattr(dataset, name, None)
    return text.strip()[: _MAX_TEXT + 1] or None if isinstance(text, str) else None


def _days(layout: StationSeries) -> Days:
    """Return the valid day of each time: of its lower bound, where it has bounds."""
    bounds = layout.day_bounds()
    begins = layout.instants(layout.time) if bounds is None else bounds[:, 0]
    days: Days = begins.astype("datetime64[D]")
    if (begins != days).any():
        at = int((begins != days).argmax())
        raise layout.fault(f"has a day that begins at {begins[at]} ({layout.time.name}[{at}]), not at midnight")
    return days


def _values(layout: StationSeries) -> tuple[dict[str, Array], dict[str, str]]:
    """Return values (stations, realizations, days) and units by variable."""
    values, units = {}, {}
    for name in WEATHER.keys() & layout.dataset.variables.keys():
        variable = layout.dataset.variables[name]
        if sorted(variable.dimensions) != sorted(layout.axes) or not is_numeric(variable):
            raise layout.fault(f"has {name} that is not a number for each station, realization and day")
        order = [variable.dimensions.index(axis) for axis in layout.axes]
        array = numbers(variable).transpose(order).astype(np.float32)
        values[name] = array[:, None] if layout.realization is None else array
        stated, ours = str(getattr(variable, "units", "")), WEATHER[name].unit
        units[name] = ours if stated.strip() in _SPELLINGS.get(ours, ()) else stated
    return values, units


_PARSERS = {".csv": parse_csv, ".json": parse_json, ".nc": parse_netcdf}
SUFFIXES = (*_PARSERS,)
"""How the names of files end that can be read."""


def read(path: Path, received: datetime, files: Files = ANY_FILES) -> WeatherFile:
    """Read a weather forecast from a file.

    `received`, in UTC, is the time of availability where the file states none.
    """
    parse = _PARSERS.get(path.suffix.lower())
    if parse is None:
        raise SourceError(files.shown(path), "is neither .csv, .json nor .nc by its name", "name it by what it holds")
    file, content = files.read(path)
    return parse(file, content, received)
