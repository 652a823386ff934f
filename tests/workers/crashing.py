"""The child process of a worker in which the library that reads NetCDF crashes at two gauges."""

import ctypes
from pathlib import Path
from unittest.mock import patch

from extensions.caravan import source, timeseries
from ingestion.base import SourceFile
from workers.job_processes.job_process import serve
from workers.tasks import HANDLERS

CRASHES_AT = ("camels_2", "camels_4")


def parse(file: SourceFile, content: bytes) -> object:
    """Read a file as ever, but for those at which the process dies as a fault in C lets it."""
    if Path(file.name).stem in CRASHES_AT:
        ctypes.string_at(0)
    return timeseries.parse_netcdf(file, content)


if __name__ == "__main__":
    with patch.object(source, "parse_netcdf", parse):
        serve(HANDLERS)
