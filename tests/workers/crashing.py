"""The child process of a worker in which the library that reads NetCDF crashes at the gauge `camels_2`."""

import ctypes
from unittest.mock import patch

from ingestion.sources.base import SourceFile
from ingestion.sources.caravan import source, timeseries
from workers.child import serve
from workers.tasks import HANDLERS

CRASHES_AT = "camels_2"


def parse(file: SourceFile, content: bytes) -> object:
    """Read a file as ever, but for the one at which the process dies as a fault in C lets it."""
    if CRASHES_AT in file.name:
        ctypes.string_at(0)
    return timeseries.parse_netcdf(file, content)


if __name__ == "__main__":
    with patch.object(source, "parse_netcdf", parse):
        serve(HANDLERS)
