"""NetCDF files from elsewhere: opened from memory, and their numbers as numpy has them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hydrology.errors import InvalidInput
from ingestion.sources.base import SourceError, SourceFile

if TYPE_CHECKING:
    from netCDF4 import Dataset, Variable

CALENDARS = ("standard", "gregorian", "proleptic_gregorian")
# HDF5, and the three classic formats. What begins otherwise is not given to the library, which is written in C.
_SIGNATURES = (b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05")
_SHORTEST = 32  # bytes


@contextmanager
def opened(file: SourceFile, content: bytes, instead: str) -> Iterator["Dataset"]:
    """Open a NetCDF file.

    Args:
        instead: what else may be given, said where the library is not installed.

    Raises:
        SourceError: the file is none, or is damaged; also where reading it shows that later.
        InvalidInput: the package netCDF4 is not installed.
    """
    try:
        import netCDF4
    except ImportError as error:
        raise InvalidInput(
            f"Reading NetCDF needs the package netCDF4: pip install freshet[netcdf], or {instead}."
        ) from error
    if not content.startswith(_SIGNATURES) or len(content) < _SHORTEST:
        raise SourceError(file.name, "is not NetCDF", "fetch the file again")
    try:
        # The name is that of nothing: the library takes some names for addresses, and opens them.
        with netCDF4.Dataset("memory.nc", memory=content) as dataset:
            yield dataset
    except (OSError, RuntimeError, ValueError, TypeError, OverflowError) as error:
        raise SourceError(file.name, "is not NetCDF, or is damaged", "fetch the file again") from error


def numbers(variable: "Variable[Any]") -> npt.NDArray[np.float64]:
    """Return a variable's values, NaN where missing."""
    values: npt.NDArray[np.float64] = np.ma.filled(variable[:].astype(np.float64), np.nan)
    return values


def is_numeric(variable: "Variable[Any]") -> bool:
    """Whether a variable is of numbers. One of texts has a Python type where others have one of numpy."""
    return getattr(variable.dtype, "kind", "") in ("f", "i", "u")
