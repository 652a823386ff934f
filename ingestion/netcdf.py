"""Opens foreign NetCDF files from memory, and reads their numbers and, of NetCDF-CF, time series of stations.

The library is written in C, and some damaged files crash or hang it where it opens them, reads their attributes or
closes them. So a copy of this process, which may crash, does that first.
"""

import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hydrology.base.errors import excerpt
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
    return np.asarray(np.ma.filled(variable[...].astype(np.float64), np.nan))


def is_numeric(variable: "Variable[Any]") -> bool:
    """Return whether a variable is numeric. A variable of texts has a Python type instead of a numpy type."""
    return getattr(variable.dtype, "kind", "") in ("f", "i", "u")


Instants = npt.NDArray[np.datetime64]

MAX_STATIONS = 10_000
_SINCE = re.compile(
    r"(second|minute|hour|day)s? since (\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.0*)?)? ?"
    r"(?:Z|UTC|GMT|\+00:?00)?"
)
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_FURTHEST = 10_000 * 366 * 86_400.0  # seconds from the origin of the times
_FIRST, _END = np.datetime64("1800-01-01", "s"), np.datetime64("2200-01-01", "s")
_ONE_DAY = np.timedelta64(86_400, "s")
_GREGORIAN = np.datetime64("1582-10-15", "s")
JULIAN = "before the calendar was changed in October 1582"
COUNT_LATER = "count since a later day, like 1970-01-01, or state the calendar proleptic_gregorian"
_MAX_ID = 64


def counts_alike(calendar: str, origin: np.datetime64) -> bool:
    """Return whether days since an origin are the same by the standard calendar as by numpy's."""
    return calendar == "proleptic_gregorian" or bool(origin >= _GREGORIAN)


def instants(file: str, variable: Any, counted: Any = None) -> Instants:
    """Return the instants of a variable (of netCDF4 or xarray) in UTC, to the second.

    `counted` states the units and the calendar, where another variable does. Refused are counts other than since an
    instant in UTC of the standard calendar, missing instants, and years without observations or forecasts.
    """
    step, origin = _count(file, variable if counted is None else counted)
    seconds = numbers(variable) * step if is_numeric(variable) else np.full(variable.shape, np.nan)
    usable = abs(seconds) < _FURTHEST
    found: Instants = origin + np.where(usable, np.round(seconds), 0).astype("timedelta64[s]")
    usable &= (found >= _FIRST) & (found < _END)
    if not usable.all():
        at, shown = ", ".join(map(str, np.argwhere(~usable)[0])), found[~usable][0]
        is_missing = not np.isfinite(seconds[~usable][0])
        what = "is missing or not a number" if is_missing else f"is {shown}, outside {_FIRST} to {_END}"
        raise SourceError(
            file,
            f"has {variable.name}[{at}] that {what}",
            "give every time the date of the day that it is of; the years of a climatology are none",
        )
    return found


def _count(file: str, variable: Any) -> tuple[int, np.datetime64]:
    """Return a variable's unit in seconds, and the instant it counts from."""
    remedy = "state its units as `days since YYYY-MM-DD`, or hours, with the calendar standard"
    since = _SINCE.fullmatch(str(getattr(variable, "units", "")).strip())
    calendar = str(getattr(variable, "calendar", "standard"))
    if since is None or calendar not in CALENDARS:
        named = "" if calendar in CALENDARS else f" (but of {excerpt(calendar)})"
        cause = f"has {variable.name} that is not counted since an instant in UTC of the standard calendar{named}"
        raise SourceError(file, cause, remedy)
    try:
        origin = np.datetime64(f"{since[2]}T{since[3] or '00:00:00'}", "s")
    except ValueError:
        raise SourceError(file, f"has {variable.name} whose origin is not an instant", remedy) from None
    if not counts_alike(calendar, origin):
        raise SourceError(file, f"has {variable.name} that is counted since {since[2]}, {JULIAN}", COUNT_LATER)
    return _SECONDS[since[1]], origin


class StationSeries:
    """The layout of a file: its axes are stations, realizations (where there are some) and times.

    They are the variables with the cf_role timeseries_id and the standard_names time and realization (None without).
    Stations and times have one dimension each.
    """

    def __init__(self, file: str, dataset: "Dataset", remedy: str) -> None:
        self.file, self.dataset, self._remedy = file, dataset, remedy
        self.time = self.found("a time (standard_name time)", standard_name="time")
        self.station = self.found("a station variable (cf_role timeseries_id)", cf_role="timeseries_id")
        self.realization = self.variable(standard_name="realization")
        has_realizations = self.realization is not None and len(self.realization.dimensions) != 1
        if len(self.time.dimensions) != 1 or not self.station.dimensions or has_realizations:
            raise self.fault("time and realization have not one dimension each, or station has none")

    def fault(self, cause: str) -> SourceError:
        """Return an error about this file."""
        return SourceError(self.file, cause, self._remedy)

    def variable(self, **attributes: str) -> "Variable[Any] | None":
        """Return the first variable with some attributes."""
        for variable in self.dataset.variables.values():
            if all(getattr(variable, name, None) == value for name, value in attributes.items()):
                return variable
        return None

    def found(self, what: str, **attributes: str) -> "Variable[Any]":
        """Return the first variable with some attributes, or refuse the file."""
        variable = self.variable(**attributes)
        if variable is None:
            raise self.fault(f"has not {what}")
        return variable

    @property
    def axes(self) -> tuple[str, ...]:
        """The dimensions of stations, realizations (where there are some) and times."""
        realizations = () if self.realization is None else self.realization.dimensions
        return (*self.station.dimensions[:1], *realizations, *self.time.dimensions)

    def instants(self, variable: "Variable[Any]", counted: "Variable[Any] | None" = None) -> Instants:
        """Return a variable's instants, as `instants` does."""
        return instants(self.file, variable, counted)

    def day_bounds(self) -> Instants | None:
        """Return the begin and end of the day of each time (times, 2); None where the times have no bounds.

        Bounds have the unit and calendar of the times, are of exactly a day each, in order, and around their time.
        """
        if hasattr(self.time, "climatology"):
            raise self.fault(f"has a climatology (of {self.time.name}), not the days of a period")
        name = getattr(self.time, "bounds", None)
        if name is None:
            return None
        bounds, stamps = self.dataset.variables.get(str(name)), self.instants(self.time)
        if bounds is None:
            raise self._bad_bounds(f"no variable {excerpt(str(name))}, which its {self.time.name} names as bounds")
        if bounds.shape != (len(stamps), 2) or bounds.dimensions[:1] != self.time.dimensions:
            raise self._bad_bounds(f"{bounds.name} that does not hold two bounds for each {self.time.name}")
        stated = {key: getattr(bounds, key, getattr(self.time, key, None)) for key in ("units", "calendar")}
        if any(value != getattr(self.time, key, None) for key, value in stated.items()):
            raise self._bad_bounds(f"{bounds.name} in another unit or calendar than {self.time.name}")
        begins, ends = self.instants(bounds, self.time).T
        followed = np.append(begins[1:], ends[-1:])
        faults = {
            "ends before it begins": ends <= begins,
            "is not of exactly one day": ends - begins != _ONE_DAY,
            "does not end where the next begins": ends != followed,
            f"is not around its {self.time.name}": (stamps < begins) | (stamps > ends),
        }
        for fault, bad in faults.items():
            if bad.any():
                at = int(bad.argmax())
                raise self._bad_bounds(f"{bounds.name}[{at}] ({begins[at]} to {ends[at]}) that {fault}")
        return np.stack([begins, ends], axis=1)

    def _bad_bounds(self, cause: str) -> SourceError:
        return SourceError(self.file, f"has {cause}", "give each time the begin and the end of its day as its bounds")

    def labels(self) -> list[str] | None:
        """Return the whole numbers of the realizations; None where there are none."""
        if self.realization is None:
            return None
        labels = numbers(self.realization) if is_numeric(self.realization) else np.array([np.nan])
        if not (labels % 1 == 0).all():
            raise self.fault("has realizations that are not whole numbers")
        return [str(int(label)) for label in labels]

    def names(self) -> list[str]:
        """Return the names of the stations: texts, limited in length and number."""
        if self.station.size > MAX_STATIONS * _MAX_ID:
            raise self.fault(f"has stations with names of more than {_MAX_ID} letters")
        values = np.ma.filled(self.station[:], b"" if self.station.dtype == "S1" else "")
        if values.ndim == 2 and values.dtype.kind == "S":  # characters, a row for each station
            return [b"".join(row).decode("ascii", "replace").strip("\0 ") for row in values]
        if values.ndim != 1:
            raise self.fault("has stations that are not named by texts")
        return [str(value).strip() for value in values.tolist()]
