"""A weather forecast as CSV. A row for each basin, trace and day.

The columns are source, model, reference_time, basin and date, and one for each variable with its unit, such as
precipitation_mm_per_day; optional are trace, available_time, licence and credit. Values about the whole forecast are
the same in every row.
"""

from collections.abc import Iterator
from datetime import datetime

import numpy as np

from hydrology.base.calendar import Day
from hydrology.base.products import WEATHER
from hydrology.weather.forcing import Trace, WeatherIssue
from ingestion.base import SourceFile, column_label
from ingestion.sheet import Sheet
from ingestion.weather.document import MAX_BASINS, WeatherFile, assembled, instant

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
    return assembled(_issue(sheet, result, received), _basins(by_basin, names), units)


def _check_same(sheet: Sheet, result: dict[str, str], row: dict[str, str], line: int) -> None:
    """Refuse a row whose values about the whole forecast differ from the first row's."""
    of_row = {name: row[name] for name in (*_OF_FORECAST, *_OPTIONAL) if name in row}
    if not result:
        result |= of_row
    if of_row != result:
        name = next(name for name in result if of_row[name] != result[name])
        raise sheet.fault(f"{name} differs from that in the first row", "give each weather forecast a file", line)


def _issue(sheet: Sheet, result: dict[str, str], received: datetime) -> WeatherIssue:
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
    read = instant(text)
    if read is None:
        raise sheet.fault(f"{name} is not an instant", "write it like 2026-11-22T00:00:00Z, with its offset")
    return read


def _basins(by_basin: dict[str, dict[str, _Rows]], names: list[str]) -> Iterator[tuple[str, list[Trace]]]:
    for basin, by_trace in by_basin.items():
        traces = []
        for label, (days, rows) in by_trace.items():
            columns = np.array(rows, dtype=np.float32).reshape(len(days), len(names)).T
            traces.append(Trace(label, np.array(days, dtype="datetime64[D]"), dict(zip(names, columns, strict=True))))
        yield basin, traces
