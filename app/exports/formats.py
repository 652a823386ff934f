"""The formats of answers: CSV, Parquet, LaTeX, GeoJSON, CoverageJSON, and NetCDF of `app.exports.netcdf`."""

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Any

from app.exports import netcdf
from app.exports.table import Column, Kind, Table, instant_text, json_text
from app.http import middleware

_SIGNS = "=+@\\-\uff1d\uff0b\uff20\uff0d\ufe66\ufe62\ufe6b\ufe63"
"""Signs that begin a formula, also in full width and small."""
_IGNORED = '\\s"\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff'
_FORMULA = re.compile(f"(^|[;|\t\r\n])(?=[{_IGNORED}]*[{_SIGNS}])|^(?= *[\t\r])")
"""The beginning of a formula: of the text, or of what is a cell where a spreadsheet of another locale splits it."""


def csv_of(table: Table) -> bytes:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow([_heading(column) for column in table.columns])
    cells = [_CELLS[column.kind] for column in table.columns]
    for row in table.rows:
        writer.writerow(["" if value is None else cell(value) for cell, value in zip(cells, row, strict=True)])
    return file.getvalue().encode()


def _heading(column: Column) -> str:
    return _text(column.name if column.unit is None else f"{column.name} [{column.unit}]")


def _text(text: str) -> str:
    """Put an apostrophe before whatever a spreadsheet would read as a formula."""
    return _FORMULA.sub(lambda found: f"{found[0]}'", text)


_CELLS: dict[Kind, Callable[[Any], str]] = {
    "text": _text,
    "number": repr,
    "integer": str,
    "truth": lambda value: "TRUE" if value else "FALSE",  # R, Excel and pandas all read it: `false` is a text in R
    "day": date.isoformat,
    "instant": instant_text,
}


CRS = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
_REFERENCING = [
    {"coordinates": ["x", "y"], "system": {"type": "GeographicCRS", "id": CRS}},
    {"coordinates": ["t"], "system": {"type": "TemporalRS", "calendar": "Gregorian"}},
]
STANDARD_NAMES = "http://vocab.nerc.ac.uk/standard_name/"
NO_PLACE, NO_DAYS = "The place of its gauge is not known.", "There are no days with data."


def coveragejson_of(table: Table) -> bytes:
    """Return a table that has the columns `basin`, `latitude`, `longitude` and `time`.

    Values that are the same on all days stand beside a coverage as `freshet:about`. A basin without a location or
    without days has no coverage: `freshet:without` gives the reason.
    """
    series = [column for column in table.columns if not column.of_basin and column.name != "time"]
    coverages, without = [], []
    basins = next(column.values for column in table.columns if column.name == "basin")
    for _, places in groupby(range(len(basins)), key=basins.__getitem__):
        first, *more = places
        rows = slice(first, first + 1 + len(more))
        station = {column.name: column.values[rows.start] for column in table.columns if column.of_basin}
        days = [day for column in table.columns if column.name == "time" for day in column.values[rows]]
        if None in (station["latitude"], station["longitude"], *days):
            reason = station.get("reason") or (NO_DAYS if None in days else NO_PLACE)
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
        "freshet:about": {name: value for name, value in station.items() if name not in _OF_PLACE},
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


if TYPE_CHECKING:
    import pyarrow


@dataclass(frozen=True, slots=True)
class Format:
    """A format; `write` is None for JSON, which answers write themselves."""

    name: str
    media_type: str
    suffix: str
    write: Callable[[Table], bytes] | None = None
    parameters: str = ""

    @property
    def schema(self) -> dict[str, str]:
        """OpenAPI schema of an answer: a JSON object, or text."""
        return {"type": "object" if self.media_type.endswith("+json") else "string"}

    @property
    def content_type(self) -> str:
        return f"{self.media_type}{self.parameters}"


def _parquet(table: Table) -> bytes:
    """Return a table as Parquet: null where there is no value, with the unit and the meaning of each column."""
    import pyarrow
    from pyarrow import parquet

    fields = [_field(column) for column in table.columns]
    arrays = [pyarrow.array(column.values, field.type) for column, field in zip(table.columns, fields, strict=True)]
    schema = pyarrow.schema(fields, metadata={"title": table.title})
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=schema), sink, compression="zstd")
    return bytes(sink.getvalue())


def _field(column: Column) -> "pyarrow.Field":
    import pyarrow

    types = {
        "text": pyarrow.string(),
        "number": pyarrow.float64(),
        "integer": pyarrow.int64(),
        "truth": pyarrow.bool_(),
        "day": pyarrow.date32(),
        "instant": pyarrow.timestamp("us", "UTC"),
    }
    shown = {"meaning": column.meaning} | ({} if column.unit is None else {"unit": column.unit})
    return pyarrow.field(column.name, types[column.kind], metadata=shown)


def _latex(table: Table) -> bytes:
    """Return a table as LaTeX (with the package booktabs), its numbers to three decimals."""
    import pandas

    frame = pandas.DataFrame({_heading(column): column.values for column in table.columns}, dtype=object)
    style = frame.style.format(escape="latex", precision=3, na_rep="").format_index(escape="latex", axis="columns")
    text: str = style.hide(axis="index").to_latex(hrules=True)
    return text.encode()


_OF_PLACE = ("basin", "latitude", "longitude")


def _geojson(table: Table) -> bytes:
    """Return a table of places as GeoJSON [RFC 7946]: a point for each row, with the other columns as properties.

    A row without a place has no geometry. The units stand beside the features, by the names of their properties.
    """
    names = [column.name for column in table.columns]
    collection = {
        "type": "FeatureCollection",
        "title": table.title,
        "units": {column.name: column.unit for column in table.columns if column.unit and column.name not in _OF_PLACE},
        "features": [_feature(dict(zip(names, row, strict=True))) for row in table.rows],
    }
    return json.dumps(collection, ensure_ascii=False, allow_nan=False, default=json_text).encode()


def _feature(row: dict[str, Any]) -> dict[str, Any]:
    basin, latitude, longitude = (row.pop(name) for name in _OF_PLACE)
    is_placed = latitude is not None and longitude is not None
    geometry = {"type": "Point", "coordinates": [longitude, latitude]} if is_placed else None
    return {"type": "Feature", "id": basin, "geometry": geometry, "properties": row}


JSON = Format("json", "application/json", "json")
CSV = Format("csv", middleware.CSV, "csv", csv_of, parameters="; charset=utf-8; header=present")
NETCDF = Format("netcdf", "application/x-netcdf", "nc", netcdf.write)
PARQUET = Format("parquet", "application/vnd.apache.parquet", "parquet", _parquet)
LATEX = Format("latex", "application/x-latex", "tex", _latex)
GEOJSON = Format("geojson", "application/geo+json", "geojson", _geojson)
COVERAGEJSON = Format("coveragejson", middleware.COVERAGEJSON, "covjson", coveragejson_of)

SERIES = (CSV, PARQUET, NETCDF, COVERAGEJSON)
"""Formats of daily series, besides JSON."""
TABLES = (CSV, PARQUET, LATEX)
"""Formats of other tables, besides JSON."""
PLACES = (CSV, PARQUET, GEOJSON)
"""Formats of tables of places, besides JSON."""
