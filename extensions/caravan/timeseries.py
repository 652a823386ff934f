"""Reads one gauge's time series. `<gauge_id>.csv` or `<gauge_id>.nc`, the same columns over local days."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from extensions.caravan.variables import QUANTITIES, same_unit, stated_units
from hydrology.base.calendar import Days, day
from hydrology.base.series import DailySeries
from ingestion.base import SourceError, SourceFile
from ingestion.daily import DailyRows, read_days
from ingestion.netcdf import CALENDARS, COUNT_LATER, JULIAN, counts_alike, is_numeric, numbers, opened
from ingestion.sheet import Sheet

if TYPE_CHECKING:
    from netCDF4 import Dataset, Variable

_DATE = "date"
_DAYS_SINCE = re.compile(r"(days|hours) since (\d{4}-\d\d-\d\d)([ T]00:00(:00(\.0+)?)?)?")
_MAX_DAYS = 146_097  # 400 years: a few bytes may claim a length that fills the memory
_NOTHING = ("", "nan")
_OTHER_FILE = "give a time series of Caravan"


def parse_csv(file: SourceFile, content: bytes) -> dict[str, DailySeries]:
    """Parse a CSV in Caravan's units; empty columns are left out."""
    sheet = Sheet.of_csv(file, content)
    sheet.require((_DATE,))
    columns = [name for name in sheet.columns if name != _DATE]
    _refuse_unknown(file, sheet.columns, sheet.header)
    quantities = {name: QUANTITIES[name] for name in columns}
    for rows, values in read_days(sheet, quantities, lambda _row, _line: "", _NOTHING).values():
        return _series(rows, values)
    raise sheet.fault("there is no row after the names of the columns", _OTHER_FILE)


def parse_netcdf(file: SourceFile, content: bytes) -> dict[str, DailySeries]:
    """Parse NetCDF in Caravan's units; empty variables are left out."""
    with opened(file, content) as dataset:
        return _read(file, dataset)


def _read(file: SourceFile, dataset: "Dataset") -> dict[str, DailySeries]:
    columns = [name for name in dataset.variables if name != _DATE]
    _refuse_unknown(file, list(dataset.variables), None)
    if _DATE not in dataset.variables:
        raise SourceError(file.name, f"the variable {_DATE} is missing", _OTHER_FILE)
    rows = DailyRows(file, _days(file, dataset.variables[_DATE]))
    units = stated_units(str(getattr(dataset, "Units", "")))
    values = {}
    for name in columns:
        variable = dataset.variables[name]
        stated, unit = getattr(variable, "units", units.get(name)), QUANTITIES[name].unit
        if stated is not None and not same_unit(str(stated), unit):
            cause = f"{name} is not in {unit}, as Caravan has it"
            raise SourceError(file.name, cause, f"convert it to {unit} and state the unit in the file")
        if variable.shape != rows.days.shape or not is_numeric(variable):
            raise SourceError(file.name, f"{name} is not a number a day", _OTHER_FILE)
        values[name] = numbers(variable)
    return _series(rows, values)


def _days(file: SourceFile, variable: "Variable[Any]") -> Days:
    unit, calendar = str(getattr(variable, "units", "")), getattr(variable, "calendar", "standard")
    if hasattr(variable, "bounds"):
        raise SourceError(file.name, f"{_DATE} has bounds, which Caravan's days have not", _OTHER_FILE)
    since = _DAYS_SINCE.fullmatch(unit.strip())
    sound = is_numeric(variable) and variable.ndim == 1 and 0 < variable.shape[0] <= _MAX_DAYS
    offsets = numbers(variable) if sound else np.array([np.nan])
    offsets = offsets / 24 if since is not None and since[1] == "hours" else offsets
    are_whole = (abs(offsets) < 1e6).all() and (offsets % 1 == 0).all()
    if since is None or calendar not in CALENDARS or not are_whole:
        cause = "the dates are not whole days, in days or hours since a day of the standard calendar"
        raise SourceError(file.name, cause, "give dates as whole days since a day")
    origin = day(since[2])
    if not counts_alike(calendar, origin):
        raise SourceError(file.name, f"the dates are counted since {origin}, {JULIAN}", COUNT_LATER)
    return origin + offsets.astype(np.int64)


def _refuse_unknown(file: SourceFile, columns: list[str], line: int | None) -> None:
    """Refuse a file with a column or variable that Caravan lacks, by its number."""
    unknown = [number for number, name in enumerate(columns, 1) if name not in QUANTITIES and name != _DATE]
    if unknown:
        cause = f"{'variable' if line is None else 'column'} {unknown[0]} does not exist in Caravan"
        raise SourceError(file.name, cause, "remove it, or name it as Caravan does", line)


def _series(rows: DailyRows, values: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, DailySeries]:
    series = {name: rows.series(column, QUANTITIES[name], name) for name, column in values.items()}
    return {QUANTITIES[name].variable: one for name, one in series.items() if one is not None}
