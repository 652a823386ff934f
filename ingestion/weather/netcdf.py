"""A weather forecast as NetCDF-CF: stations, days and realizations, with a forecast_reference_time.

The variables have our names (precipitation, tmax, ...) and state their units. A day is given by the lower bound of its
time, or without bounds by its time, which is then its midnight; either by the calendar at the gauge. The global
attributes `institution` and `source` name provider and model; `license`, `acknowledgement` and `date_issued` are
optional and give the licence, the credit and the time of availability.
"""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hydrology.base.calendar import Days, day
from hydrology.base.variables import WEATHER
from hydrology.weather.forcing import MAX_LEADS, MAX_TRACES, Array, Trace, WeatherIssue
from ingestion.base import SourceError, SourceFile
from ingestion.netcdf import CALENDARS, is_numeric, numbers, opened
from ingestion.weather.basins import MAX_BASINS, BasinTraces, WeatherFile, assembled, instant
from ingestion.weather.table import ONLY_TRACE

if TYPE_CHECKING:
    from netCDF4 import Dataset, Variable

_SINCE = re.compile(r"(second|minute|hour|day)s? since (\d{4}-\d\d-\d\d)([ T]00:00(:00(\.0+)?)?)? ?(Z|UTC|\+00:00)?")
_OTHER_CALENDARS = ("noleap", "365_day", "all_leap", "366_day", "360_day", "julian")
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_FURTHEST = 200 * 366 * 86_400.0  # seconds from the origin of the times
_MAX_TEXT = 500
_MAX_ID = 64
_MAX_VALUES = 20_000_000  # per variable: a few bytes may state a length that fills the memory
_REMEDY = "lay it out as NetCDF-CF has an ensemble forecast of stations"
_SPELLINGS = {
    "mm/day": ("mm/day", "mm day-1", "mm d-1", "mm/d"),
    "degC": ("degC", "degree_Celsius", "degrees_Celsius", "celsius"),
    "W/m2": ("W/m2", "W m-2"),
    "Pa": ("Pa",),
    "s": ("s",),
}


def parse_netcdf(file: SourceFile, content: bytes, received: datetime) -> WeatherFile:
    """Read a file.

    Raises:
        SourceError: it is not NetCDF, or has another layout.
        InvalidInput: a name or an instant cannot be used.
    """
    with opened(file, content) as dataset:
        return _Layout(file, dataset).read(received)


class _Layout:
    """The stations, days and realizations of a file.

    Args:
        file: for the errors.
        dataset: the open file.
    """

    def __init__(self, file: SourceFile, dataset: "Dataset") -> None:
        self._file, self._dataset = file, dataset
        self._station = self._found("a station variable (cf_role timeseries_id)", cf_role="timeseries_id")
        self._time = self._found("a time (standard_name time)", standard_name="time")
        self._realization = self._with(standard_name="realization")
        self._check_sizes()

    def read(self, received: datetime) -> WeatherFile:
        """Return the file's content."""
        return assembled(self._issue(received), [*self._basins()])

    def _fault(self, cause: str) -> SourceError:
        return SourceError(self._file.name, cause, _REMEDY)

    def _with(self, **attributes: str) -> "Variable[Any] | None":
        """Return the first variable with an attribute."""
        for variable in self._dataset.variables.values():
            if all(getattr(variable, name, None) == value for name, value in attributes.items()):
                return variable
        return None

    def _found(self, what: str, **attributes: str) -> "Variable[Any]":
        variable = self._with(**attributes)
        if variable is None:
            raise self._fault(f"has not {what}")
        return variable

    @property
    def _axes(self) -> tuple[str, ...]:
        """The dimensions of stations, realizations (where there are some) and days."""
        realizations = () if self._realization is None else self._realization.dimensions
        return (*self._station.dimensions[:1], *realizations, *self._time.dimensions)

    def _check_sizes(self) -> None:
        if len(self._time.dimensions) != 1 or not self._station.dimensions or len(self._axes) not in (2, 3):
            raise self._fault("time and realization have not one dimension each, or station has none")
        stations, *realizations, days = (len(self._dataset.dimensions[name]) for name in self._axes)
        traces = realizations[0] if realizations else 1
        if not (0 < stations <= MAX_BASINS and 0 < traces <= MAX_TRACES and 0 < days <= MAX_LEADS):
            limits = f"{MAX_BASINS} stations, {MAX_TRACES} realizations and {MAX_LEADS} days"
            raise self._fault(f"has none or more than {limits}")
        if stations * traces * days > _MAX_VALUES:
            raise self._fault(f"has more than {_MAX_VALUES} values of a variable")

    def _issue(self, received: datetime) -> WeatherIssue:
        reference = self._found("a forecast_reference_time", standard_name="forecast_reference_time")
        if reference.size != 1 or not is_numeric(reference):
            raise self._fault("has not one forecast_reference_time")
        (seconds,), since = self._seconds(reference)
        issued = self._text("date_issued")
        return WeatherIssue(
            source=self._text("institution") or "",
            model=self._text("source") or "",
            reference_time=datetime.fromisoformat(f"{since}T00:00:00+00:00") + timedelta(seconds=float(seconds)),
            available_time=received if issued is None else self._instant(issued),
            licence=self._text("license"),
            credit=self._text("acknowledgement"),
        )

    def _text(self, name: str) -> str | None:
        text = getattr(self._dataset, name, None)
        return text.strip()[: _MAX_TEXT + 1] or None if isinstance(text, str) else None

    def _instant(self, text: str) -> datetime:
        read = instant(text)
        if read is None:
            raise self._fault("has a date_issued that is not an instant with its offset")
        return read

    def _seconds(self, variable: "Variable[Any]") -> tuple[npt.NDArray[np.float64], str]:
        """Return times as seconds since a day, and that day."""
        since = _SINCE.fullmatch(str(getattr(variable, "units", "")).strip())
        calendar = str(getattr(variable, "calendar", "standard"))
        if calendar not in CALENDARS:
            named = f"the calendar {calendar}" if calendar in _OTHER_CALENDARS else "a calendar that is not known"
            cause = f"has times of {named}, not counted since a day of the standard calendar"
            raise SourceError(self._file.name, cause, "give real days, with the calendar standard")
        if since is None:
            cause = f"has {variable.name} that is not counted since a day of the standard calendar, from its midnight"
            raise SourceError(self._file.name, cause, "state its units as `days since YYYY-MM-DD`, or hours")
        seconds = np.atleast_1d(numbers(variable)) * _SECONDS[since[1]]
        if not (abs(seconds) < _FURTHEST).all():
            raise self._fault("has times that are missing or not instants")
        return seconds, str(day(since[2]))

    def _days(self) -> Days:
        """Return the valid day of each time."""
        if not is_numeric(self._time):
            raise self._fault("has times that are not numbers")
        seconds, since = self._seconds(self._time)
        bounds = self._dataset.variables.get(str(getattr(self._time, "bounds", "")))
        if bounds is not None:
            if bounds.shape != (len(seconds), 2) or not is_numeric(bounds):
                raise self._fault("has bounds that are not two for each time")
            per_unit = _SECONDS[str(self._time.units).strip().partition(" ")[0].rstrip("s")]  # they share its units
            seconds = numbers(bounds)[:, 0] * per_unit
        if not (abs(seconds) < _FURTHEST).all() or (seconds % 86_400).any():
            raise self._fault("has days that do not begin at midnight by their own calendar")
        return day(since) + (seconds // 86_400).astype(np.int64)

    def _labels(self) -> list[str]:
        if self._realization is None:
            return [ONLY_TRACE]
        if not is_numeric(self._realization):
            raise self._fault("has realizations that are not numbers")
        labels = np.atleast_1d(numbers(self._realization))
        if not (labels % 1 == 0).all():
            raise self._fault("has realizations that are not whole numbers")
        return [str(int(label)) for label in labels]

    def _stations(self) -> list[str]:
        if self._station.size > MAX_BASINS * _MAX_ID:
            raise self._fault(f"has stations with names of more than {_MAX_ID} letters")
        values = np.ma.filled(self._station[:], "")
        if values.ndim == 2 and values.dtype.kind == "S":  # characters, a row for each station
            return [b"".join(row).decode("ascii", "replace").strip("\0 ") for row in values]
        if values.ndim != 1:
            raise self._fault("has stations that are not named by texts")
        return [str(value).strip() for value in values.tolist()]

    def _values(self) -> tuple[dict[str, Array], dict[str, str]]:
        """Return values (stations, realizations, days) and units by variable."""
        values, units = {}, {}
        for name in WEATHER.keys() & self._dataset.variables.keys():
            variable = self._dataset.variables[name]
            if sorted(variable.dimensions) != sorted(self._axes) or not is_numeric(variable):
                raise self._fault(f"has {name} that is not a number for each station, realization and day")
            order = [variable.dimensions.index(axis) for axis in self._axes]
            array = numbers(variable).transpose(order).astype(np.float32)
            values[name] = array[:, None] if self._realization is None else array
            units[name] = _unit(str(getattr(variable, "units", "")), WEATHER[name].unit)
        return values, units

    def _basins(self) -> Iterator[BasinTraces]:
        days, labels, stations = self._days(), self._labels(), self._stations()
        values, units = self._values()
        for at, station in enumerate(stations):
            traces = [
                Trace(label, days, {name: array[at, trace] for name, array in values.items()})
                for trace, label in enumerate(labels)
            ]
            yield BasinTraces(station, traces, units)


def _unit(stated: str, ours: str) -> str:
    """Return our name of a unit if it is another spelling of it."""
    return ours if stated.strip() in _SPELLINGS.get(ours, ()) else stated
