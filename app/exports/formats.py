"""The formats of answers."""

from collections.abc import Callable
from dataclasses import dataclass

from app.exports import coveragejson, csv, geojson, netcdf, parquet
from app.exports.table import Table
from app.http import headers


@dataclass(frozen=True, slots=True)
class Format:
    """A format.

    Attributes:
        name: as `format=` names it.
        media_type: as `Accept` names it.
        suffix: of a file's name.
        write: writes a table; None for JSON, which answers write themselves.
        parameters: of the media type, as an answer bears it.
    """

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
        """The Content-Type header of an answer."""
        return f"{self.media_type}{self.parameters}"


JSON = Format("json", "application/json", "json")
CSV = Format("csv", headers.CSV, "csv", csv.write, parameters="; charset=utf-8; header=present")
NETCDF = Format("netcdf", "application/x-netcdf", "nc", netcdf.write)
PARQUET = Format("parquet", "application/vnd.apache.parquet", "parquet", parquet.write)
GEOJSON = Format("geojson", "application/geo+json", "geojson", geojson.write)
COVERAGEJSON = Format("coveragejson", headers.COVERAGEJSON, "covjson", coveragejson.write)

SERIES = (CSV, PARQUET, NETCDF, COVERAGEJSON)
"""Formats of daily series, besides JSON."""
TABLES = (CSV, PARQUET)
"""Formats of other tables, besides JSON."""
PLACES = (*TABLES, GEOJSON)
"""Formats of tables of places, besides JSON."""
