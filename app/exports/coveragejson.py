"""Tables of daily series as CoverageJSON 1.0 [OGC 21-069r2]: a `PointSeries` for each basin, a parameter for each
column."""

import json
from collections.abc import Sequence
from datetime import date
from itertools import groupby
from typing import Any

from app.exports.table import Column, Table, json_text

_PLACE = ("basin", "latitude", "longitude")
CRS = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
_REFERENCING = [
    {
        "coordinates": ["x", "y"],
        "system": {"type": "GeographicCRS", "id": CRS},
    },
    {"coordinates": ["t"], "system": {"type": "TemporalRS", "calendar": "Gregorian"}},
]
STANDARD_NAMES = "http://vocab.nerc.ac.uk/standard_name/"
NOWHERE, NOTHING = "The place of its gauge is not known.", "There are no days with data."


def write(table: Table) -> bytes:
    """Return a table that has the columns `basin`, `latitude`, `longitude` and `time`.

    Values that are the same on all days stand beside a coverage as `freshet:about`. A basin without a location or
    without days has no coverage: `freshet:without` gives the reason.
    """
    series = [column for column in table.columns if not column.of_basin and column.name != "time"]
    coverages, without = [], []
    for rows in _rows_of_basins(table):
        station = {column.name: column.values[rows.start] for column in table.columns if column.of_basin}
        days = [day for column in table.columns if column.name == "time" for day in column.values[rows]]
        if None in (station["latitude"], station["longitude"], *days):
            reason = station.get("reason") or (NOTHING if None in days else NOWHERE)
            without.append({"basin": station["basin"], "reason": reason})
        else:
            coverages.append(_coverage(station, days, {column.name: _range(column, rows) for column in series}))
    collection = {
        "type": "CoverageCollection",
        "domainType": "PointSeries",
        "parameters": {column.name: parameter(column) for column in series},
        "parameterGroups": _groups(series),
        "referencing": _REFERENCING,
        "coverages": coverages,
        "freshet:without": without,
    }
    return json.dumps(collection, ensure_ascii=False, allow_nan=False, default=json_text).encode()


def parameter(column: Column) -> dict[str, Any]:
    """Return the description of a column, as a `Parameter`."""
    observed: dict[str, Any] = {"label": {"en": column.meaning}}
    if column.standard_name is not None:
        observed["id"] = f"{STANDARD_NAMES}{column.standard_name}/"
    unit = {} if column.unit is None else {"unit": {"symbol": column.unit}}
    return {"type": "Parameter", "observedProperty": observed} | unit


def _rows_of_basins(table: Table) -> list[slice]:
    basins = next(column.values for column in table.columns if column.name == "basin")
    groups = [list(rows) for _, rows in groupby(range(len(basins)), key=basins.__getitem__)]
    return [slice(rows[0], rows[-1] + 1) for rows in groups]


def _coverage(station: dict[str, Any], days: Sequence[date], ranges: dict[str, Any]) -> dict[str, Any]:
    axes = {
        "x": {"values": [station["longitude"]]},
        "y": {"values": [station["latitude"]]},
        "t": {"values": [f"{day}T00:00:00Z" for day in days]},
    }
    return {
        "type": "Coverage",
        "id": station["basin"],
        "domain": {"type": "Domain", "axes": axes},
        "ranges": ranges,
        "freshet:about": {name: value for name, value in station.items() if name not in _PLACE},
    }


def _range(column: Column, rows: slice) -> dict[str, Any]:
    kind, values = "integer" if column.kind == "integer" else "float", column.values[rows]
    return {"type": "NdArray", "dataType": kind, "axisNames": ["t"], "shape": [len(values)], "values": values}


def _groups(columns: Sequence[Column]) -> list[dict[str, Any]]:
    meanings = {column.along.variable: column.along.meaning for column in columns if column.along}
    return [
        {
            "type": "ParameterGroup",
            "id": variable,
            "label": {"en": meaning},
            "members": [column.name for column in columns if column.along and column.along.variable == variable],
        }
        for variable, meaning in meanings.items()
    ]
