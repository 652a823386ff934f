"""The formats of answers."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.exports import coveragejson, csv, netcdf
from app.exports.table import Column, Table, json_text
from app.http import middleware

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
CSV = Format("csv", middleware.CSV, "csv", csv.write, parameters="; charset=utf-8; header=present")
NETCDF = Format("netcdf", "application/x-netcdf", "nc", netcdf.write)
PARQUET = Format("parquet", "application/vnd.apache.parquet", "parquet", _parquet)
GEOJSON = Format("geojson", "application/geo+json", "geojson", _geojson)
COVERAGEJSON = Format("coveragejson", middleware.COVERAGEJSON, "covjson", coveragejson.write)

SERIES = (CSV, PARQUET, NETCDF, COVERAGEJSON)
"""Formats of daily series, besides JSON."""
TABLES = (CSV, PARQUET)
"""Formats of other tables, besides JSON."""
PLACES = (*TABLES, GEOJSON)
"""Formats of tables of places, besides JSON."""
