"""Tables of daily series as NetCDF by the CF conventions 1.8: the discrete sampling geometry `timeSeries`.

A basin is a station. Its columns are variables: one value for each station if it is the same on all days, else one
for each station and day, behind an axis of quantiles or of members (`realization`) where a variable has several
columns.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from app.exports.table import Column, Kind, Table
from app.http.problems import refused
from runtime.netcdf import encode, numeric_variable, text_variable
from runtime.release import code_version

if TYPE_CHECKING:
    from xarray import Variable

Array = npt.NDArray[Any]
Variables = dict[str, "Variable"]

MAX_VALUES = 10_000_000
"""Maximum number of values in one file: 80 MB before compression."""
REFERENCE, PERIOD = "forecast_reference_time", "forecast_period"
_UNITS: Mapping[str, str] = {"m3/s": "m3 s-1", "mm/day": "mm day-1", "cfs": "ft3 s-1", "W/m2": "W m-2"}
"""Units whose name differs in the conventions."""
_CALENDAR = "proleptic_gregorian"
"""In the calendar `standard`, in which days before 1582 are Julian, xarray cannot write missing instants alone."""
_TIMES: Mapping[Kind, str] = {"day": "days since 1970-01-01", "instant": "seconds since 1970-01-01"}
_FILLS: Mapping[str, float] = {"f8": 9.969209968386869e36, "i4": -2147483647, "i1": -127}
"""Fill values: the library's own defaults."""
_PLACE = ("latitude", "longitude", "basin")
_COMMENT = (
    "A day is as its source defines it, from midnight to midnight there: time is its beginning and time_bnds its "
    "extent, without a time zone. The forecast_reference_time is the last day of weather in the initial state."
)


@dataclass(frozen=True, slots=True)
class _Grid:
    """Positions of a table's rows among stations and days.

    Attributes:
        first: the first row of each station.
        days: the days of all rows, since 1970.
        dated: whether a row has a day; a basin without a forecast has none.
    """

    first: npt.NDArray[np.int64]
    days: npt.NDArray[np.int64]
    dated: npt.NDArray[np.bool_]
    station: npt.NDArray[np.int64]
    day: npt.NDArray[np.int64]

    def spread(self, column: Column) -> Array:
        """Return a column as (stations, days)."""
        values = _numbers(column.kind, column.values)
        spread = np.full((len(self.first), len(self.days)), _fill_of(values), values.dtype)
        spread[self.station, self.day] = values[self.dated]
        return spread


def write(table: Table) -> bytes:
    """Return a table with `basin` and `time` as a file; refuse forecasts of too many first days."""
    of_name = {column.name: column.values for column in table.columns}
    grid = _grid(of_name["basin"], of_name["time"])
    values = len(grid.first) * len(grid.days) * len(table.columns)
    if values > MAX_VALUES:
        detail = (
            f"a NetCDF file of these basins has {values} values on {len(grid.days)} days, and one holds at most "
            f"{MAX_VALUES}: ask for fewer basins, or for another format"
        )
        raise refused("format", detail)
    # A dimension of size 0 is an unlimited one, of which the classic model has one: without rows there are two.
    return encode(_variables(table, grid), _global(table), "NETCDF4_CLASSIC" if len(grid.first) else "NETCDF4")


def _grid(basins: Sequence[str], days: Sequence[date | None]) -> _Grid:
    numbers = {basin: number for number, basin in enumerate(dict.fromkeys(basins))}
    station = np.array([numbers[basin] for basin in basins], np.int64)
    _, first = np.unique(station, return_index=True)
    dated = np.array([day is not None for day in days], np.bool_)
    since = np.array([day for day in days if day is not None], "datetime64[D]").astype(np.int64)
    unique, day = np.unique(since, return_inverse=True)
    return _Grid(first, unique, dated, station[dated], day)


def _global(table: Table) -> dict[str, str]:
    program = f"Freshet {code_version()}"
    shown = {"Conventions": "CF-1.8", "featureType": "timeSeries", "title": table.title, "comment": _COMMENT}
    return shown | {"source": program, "history": f"Written by {program}."}


def _variables(table: Table, grid: _Grid) -> Variables:
    axis = {"standard_name": "time", "long_name": "day", "calendar": _CALENDAR, "axis": "T", "bounds": "time_bnds"}
    bounds = np.stack([grid.days, grid.days + 1], axis=1).astype("f8")
    variables = {
        "time": numeric_variable(["time"], grid.days.astype("f8"), axis | {"units": _TIMES["day"]}),
        "time_bnds": numeric_variable(["time", "bounds"], bounds, {}),
    }
    for column in table.columns:
        if column.of_basin:
            variables[column.name] = _of_basin(grid, column)
    coordinates = [*_PLACE, *(c.name for c in table.columns if c.standard_name in (REFERENCE, PERIOD))]
    daily = [column for column in table.columns if not column.of_basin and column.name != "time"]
    for column in daily:
        if column.standard_name == PERIOD:
            variables[column.name] = _leads(grid, column)
        elif column.along is None:
            attributes = _attributes(column) | {"coordinates": " ".join(coordinates)}
            variables[column.name] = _filled(["station", "time"], grid.spread(column), attributes)
    for name in dict.fromkeys(column.along.variable for column in daily if column.along):
        columns = [column for column in daily if column.along and column.along.variable == name]
        variables |= _along(grid, columns, " ".join(coordinates))
    return variables


def _of_basin(grid: _Grid, column: Column) -> "Variable":
    """Return one value for each station, or a single reference time if all share it."""
    values = [column.values[row] for row in grid.first]
    if column.kind == "text":
        attributes = {"long_name": column.meaning} | ({"cf_role": "timeseries_id"} if column.name == "basin" else {})
        return _texts(column.name, "station", values, attributes)
    numbers = _numbers(column.kind, values)
    if column.standard_name == REFERENCE and len({*values}) == 1:
        return _filled([], numbers[0], _attributes(column))
    return _filled(["station"], numbers, _attributes(column))


def _leads(grid: _Grid, column: Column) -> "Variable":
    """Return the lead of each day; by station where they differ."""
    leads = grid.spread(column)
    of_day = leads.max(axis=0, initial=int(_FILLS["i4"]))
    if (np.where(leads == _FILLS["i4"], of_day, leads) == of_day).all():
        return _filled(["time"], of_day, _attributes(column))
    return _filled(["station", "time"], leads, _attributes(column))


def _along(grid: _Grid, columns: Sequence[Column], coordinates: str) -> Variables:
    """Return the columns of one variable along their own axis (quantile or member), and the axis."""
    along = [column.along for column in columns if column.along is not None]
    name, labels = along[0].variable, [where.label for where in along]
    variables = {}
    if along[0].axis == "member":
        axis = "realization"
        attributes = {"standard_name": axis, "long_name": "number of the member", "units": "1"}
        variables[axis] = numeric_variable([axis], np.arange(len(labels), dtype="i4"), attributes)
        variables["member"] = _texts(
            "member", axis, [str(label) for label in labels], {"long_name": "name of the member"}
        )
        coordinates = f"{coordinates} member"
    else:
        axis = f"{name}_quantile"
        attributes = {"long_name": "share of the distribution at or below the value", "units": "1"}
        variables[axis] = numeric_variable([axis], np.array(labels, "f8"), attributes)
    values = np.stack([grid.spread(column) for column in columns])
    attributes = _attributes(columns[0]) | {"long_name": along[0].meaning, "coordinates": coordinates}
    variables[name] = _filled([axis, "station", "time"], values, attributes)
    return variables


def _filled(dimensions: Sequence[str], values: Array, attributes: Mapping[str, Any]) -> "Variable":
    return numeric_variable(dimensions, values, attributes, fill=_fill_of(values))


def _texts(name: str, dimension: str, values: Sequence[str | None], attributes: Mapping[str, Any]) -> "Variable":
    shown = [value or "" for value in values]
    return text_variable(dimension, f"{name}_length", shown, {**attributes, "_Encoding": "utf-8"})


def _attributes(column: Column) -> dict[str, Any]:
    attributes: dict[str, Any] = {"long_name": column.meaning}
    if column.standard_name is not None:
        attributes["standard_name"] = column.standard_name
    if column.cell_methods is not None:
        attributes["cell_methods"] = column.cell_methods
    if column.unit is not None:
        attributes["units"] = _UNITS.get(column.unit, column.unit)
    if column.kind in _TIMES:
        attributes |= {"units": _TIMES[column.kind], "calendar": _CALENDAR}
    if column.kind == "truth":
        attributes |= {"flag_values": np.array([0, 1], "i1"), "flag_meanings": "false true"}
    if column.flags:
        meanings = " ".join(words.partition(":")[0].replace(" ", "_") for words in column.flags.values())
        attributes |= {"flag_masks": np.array(list(column.flags), "i4"), "flag_meanings": meanings}
    return attributes


def _numbers(kind: Kind, values: Sequence[Any]) -> Array:
    """Return values as numbers, the fill of their type where there is none."""
    dtype = {"integer": "i4", "truth": "i1"}.get(kind, "f8")
    if kind == "day":
        values = [value and value.toordinal() - date(1970, 1, 1).toordinal() for value in values]
    if kind == "instant":
        values = [value and value.timestamp() for value in values]
    return np.array([_FILLS[dtype] if value is None else value for value in values], dtype)


def _fill_of(values: Array) -> float:
    return _FILLS[values.dtype.str[1:]]
