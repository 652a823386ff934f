"""Reads time series of stations from NetCDF-CF: stations, times and, for an ensemble, realizations."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hydrology.base.errors import excerpt
from ingestion.base import SourceError
from ingestion.netcdf import CALENDARS, is_numeric, numbers

if TYPE_CHECKING:
    from netCDF4 import Dataset, Variable

Instants = npt.NDArray[np.datetime64]

MAX_STATIONS = 10_000
_SINCE = re.compile(
    r"(second|minute|hour|day)s? since (\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d)?)(?:\.0*)?)? ?"
    r"(?:Z|UTC|GMT|\+00:?00)?"
)
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_FURTHEST = 400 * 366 * 86_400.0  # seconds from the origin of the times
_FIRST, _LAST = np.datetime64("0001-01-01", "s"), np.datetime64("9999-12-31", "s")
_MAX_ID = 64


class StationSeries:
    """The layout of a file: its axes are stations, realizations (where there are some) and times.

    Attributes:
        station: the variable with the cf_role timeseries_id.
        time: the variable with the standard_name time.
        realization: the variable with the standard_name realization; None where there is none.

    Raises:
        SourceError: stations or times are missing, or do not have one dimension each.
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
        """Return the first variable with some attributes.

        Raises:
            SourceError: there is none; `what` names it.
        """
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
        """Return a variable's instants in UTC, to the second.

        Args:
            counted: the variable that states the units and the calendar, if another one.

        Raises:
            SourceError: they are not counted since an instant in UTC of the standard calendar, or are missing.
        """
        attributes = variable if counted is None else counted
        since = _SINCE.fullmatch(str(getattr(attributes, "units", "")).strip())
        calendar = str(getattr(attributes, "calendar", "standard"))
        if since is None or calendar not in CALENDARS or not is_numeric(variable):
            named = "" if calendar in CALENDARS else f" (but of {excerpt(calendar)})"
            raise SourceError(
                self.file,
                f"has {variable.name} that is not counted since an instant in UTC of the standard calendar{named}",
                "state its units as `days since YYYY-MM-DD`, or hours, with the calendar standard",
            )
        seconds = numbers(variable) * _SECONDS[since[1]]
        try:
            origin = np.datetime64(f"{since[2]}T{since[3] or '00:00:00'}", "s")
        except ValueError:
            raise self.fault("has times whose origin is not an instant") from None
        if (abs(seconds) < _FURTHEST).all():
            instants: Instants = origin + np.round(seconds).astype("timedelta64[s]")
            if ((instants >= _FIRST) & (instants <= _LAST)).all():
                return instants
        raise self.fault("has times that are missing or not instants")

    def labels(self) -> list[str] | None:
        """Return the numbers of the realizations; None where there are none.

        Raises:
            SourceError: they are not whole numbers.
        """
        if self.realization is None:
            return None
        labels = numbers(self.realization) if is_numeric(self.realization) else np.array([np.nan])
        if not (labels % 1 == 0).all():
            raise self.fault("has realizations that are not whole numbers")
        return [str(int(label)) for label in labels]

    def names(self) -> list[str]:
        """Return the names of the stations.

        Raises:
            SourceError: they are not texts, or are too long or too many.
        """
        if self.station.size > MAX_STATIONS * _MAX_ID:
            raise self.fault(f"has stations with names of more than {_MAX_ID} letters")
        values = np.ma.filled(self.station[:], b"" if self.station.dtype == "S1" else "")
        if values.ndim == 2 and values.dtype.kind == "S":  # characters, a row for each station
            return [b"".join(row).decode("ascii", "replace").strip("\0 ") for row in values]
        if values.ndim != 1:
            raise self.fault("has stations that are not named by texts")
        return [str(value).strip() for value in values.tolist()]
