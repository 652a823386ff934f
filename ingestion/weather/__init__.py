"""Reads weather forecast files. CSV, JSON and NetCDF-CF, one forecast for any basins in each."""

from datetime import datetime
from pathlib import Path

from ingestion.base import SourceError
from ingestion.reading import ANY_FILES, Files
from ingestion.weather.document import WeatherFile, parse_json
from ingestion.weather.netcdf import parse_netcdf
from ingestion.weather.table import parse_csv

__all__ = ["SUFFIXES", "WeatherFile", "read"]

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
