"""Opens foreign NetCDF files from memory, and reads their numbers.

The library is written in C, and some damaged files crash or hang it where it opens them, reads their attributes or
closes them. So a copy of this process, which may crash, does that first.
"""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ingestion.base import SourceError, SourceFile
from runtime.child_processes import Fork, limit, memory_in_use

if TYPE_CHECKING:
    from netCDF4 import Dataset, Variable

CALENDARS = ("standard", "gregorian", "proleptic_gregorian")
# HDF5, and the three classic formats. Other content is not given to the library, which is written in C.
_SIGNATURES = (b"\x89HDF\r\n\x1a\n", b"CDF\x01", b"CDF\x02", b"CDF\x05")
_SHORTEST = 32  # bytes
_MAX_TRIAL = 2  # seconds of computing; a large file takes some hundredths
_DEADLY = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGXCPU)
_FAULTS = (OSError, RuntimeError, ValueError, TypeError, OverflowError)
_MAX_MEMORY = 512 * 2**20  # bytes of a trial, besides twice the file
_NAME = "memory.nc"  # a dummy: the library takes some names for addresses, and opens them
_DAMAGED = "is not NetCDF, or is damaged"
_MEND = "fetch the file again"


@contextmanager
def opened(file: SourceFile, content: bytes) -> Iterator["Dataset"]:
    """Open a NetCDF file; SourceError where damaged, also on later reading."""
    import netCDF4

    if not content.startswith(_SIGNATURES) or len(content) < _SHORTEST:
        raise SourceError(file.name, "is not NetCDF", _MEND)
    _try_in_a_copy(file, content)
    try:
        with netCDF4.Dataset(_NAME, memory=content) as dataset:
            yield dataset
    except _FAULTS as error:
        raise SourceError(file.name, _DAMAGED, _MEND) from error


def _try_in_a_copy(file: SourceFile, content: bytes) -> None:
    """Open, read and close a file in a copy of this process."""
    # An inherited handler would report the crash as this process's.
    code = Fork(partial(_try, content), _DEADLY).wait()
    if code < 0:
        end = signal.Signals(-code)
        does = "never ends" if end in (signal.SIGXCPU, signal.SIGKILL) else f"crashes ({end.name})"
        raise SourceError(file.name, f"is damaged: the library that reads NetCDF {does} at it", _MEND)
    if code:
        raise SourceError(file.name, _DAMAGED, _MEND)


def _try(content: bytes) -> None:
    """Open a file, read its attributes and close it. A file of a thousand bytes can make the library fill gigabytes."""
    taken = memory_in_use()
    with suppress(OSError, ValueError):  # a lower limit stays
        limit(seconds=_MAX_TRIAL, memory=None if taken is None else taken + _MAX_MEMORY + 2 * len(content))
    import netCDF4

    try:
        with netCDF4.Dataset(_NAME, memory=content) as dataset:
            holders: list[Any] = [dataset, *dataset.variables.values()]
            for holder in holders:
                for name in holder.ncattrs():
                    with suppress(*_FAULTS):
                        holder.getncattr(name)
    except (*_FAULTS, MemoryError):
        sys.exit(1)


def numbers(variable: "Variable[Any]") -> npt.NDArray[np.float64]:
    """Return a variable's values, NaN where missing."""
    values: npt.NDArray[np.float64] = np.ma.filled(variable[:].astype(np.float64), np.nan)
    return values


def is_numeric(variable: "Variable[Any]") -> bool:
    """Return whether a variable is numeric. A variable of texts has a Python type instead of a numpy type."""
    return getattr(variable.dtype, "kind", "") in ("f", "i", "u")
