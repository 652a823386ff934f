"""Reads and writes time series as NetCDF-CF, as Delft-FEWS does (`NETCDF-CF_TIMESERIES`)."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ingestion.base import SourceError
from ingestion.netcdf import CALENDARS, is_numeric, numbers, opened
from ingestion.reading import described
from operations.fews.days import Instants
from operations.fews.series import Given, Output
from runtime.netcdf import encode, numeric_variable, text_variable

if TYPE_CHECKING:
    import xarray
    from netCDF4 import Dataset, Variable

MISSING_VALUE = np.float32(9.96921e36)
_SINCE = re.compile(
    r"(second|minute|hour|day)s? since (\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d:\d\d)(?:\.0*)?)? ?(?:Z|UTC|GMT|\+00:?00)?"
)
_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
_FURTHEST = 400 * 366 * 86_400.0  # seconds from the origin of the times
_MAX_VALUES = 50_000_000
_MAX_ID = 64
_CF_UNITS = {"m3/s": "m3 s-1", "mm": "mm"}


def read(content: bytes, file: str) -> Iterator[Given]:
    """Yield the series of a file. One for each variable, station and realization.

    Raises:
        SourceError: it is not NetCDF, or has another layout.
    """
    with opened(described(file, content), content) as dataset:
        yield from _Layout(file, dataset).series()


class _Layout:
    """The stations, times and realizations of a file."""

    def __init__(self, file: str, dataset: "Dataset") -> None:
        self._file, self._dataset = file, dataset
        self._time = self._with("standard_name", "time")
        self._station = self._with("cf_role", "timeseries_id")
        self._realization = self._with("standard_name", "realization")

    def series(self) -> Iterator[Given]:
        if self._time is None or self._station is None or len(self._time.dimensions) != 1:
            raise self._fault("has not a time (standard_name) and stations (cf_role timeseries_id)")
        stamps, stations, members = self._stamps(self._time), self._stations(self._station), self._members()
        places, ends = self._station.dimensions[0], self._time.dimensions[0]
        of_members = () if self._realization is None else self._realization.dimensions
        for name, variable in self._dataset.variables.items():
            axes = (places, *(of_members if set(of_members) & set(variable.dimensions) else ()), ends)
            if sorted(variable.dimensions) != sorted(axes) or not is_numeric(variable):
                continue
            if variable.size > _MAX_VALUES:
                raise self._fault(f"has more than {_MAX_VALUES} values of a variable")
            values = numbers(variable).transpose([variable.dimensions.index(axis) for axis in axes])
            for at, station in enumerate(stations):
                labels = members if len(axes) == 3 else (None,)
                for row, label in zip(values[at].reshape(len(labels), -1), labels, strict=True):
                    units = str(getattr(variable, "units", ""))
                    yield Given(
                        file=self._file,
                        location=station,
                        parameter=name,
                        kind="mean",
                        units=units,
                        ensemble=None,
                        member=label,
                        stamps=stamps,
                        values=row,
                    )

    def _fault(self, cause: str) -> SourceError:
        return SourceError(self._file, cause, "lay it out as Delft-FEWS exports NETCDF-CF_TIMESERIES")

    def _with(self, attribute: str, value: str) -> "Variable[Any] | None":
        variables = self._dataset.variables.values()
        return next((variable for variable in variables if getattr(variable, attribute, None) == value), None)

    def _stamps(self, variable: "Variable[Any]") -> Instants:
        since = _SINCE.fullmatch(str(getattr(variable, "units", "")).strip())
        if since is None or getattr(variable, "calendar", "standard") not in CALENDARS or not is_numeric(variable):
            raise self._fault("has times that are not counted since an instant in UTC of the standard calendar")
        counted = numbers(variable) * _SECONDS[since[1]]
        if not (abs(counted) < _FURTHEST).all():
            raise self._fault("has times that are missing or not instants")
        try:
            origin = np.datetime64(f"{since[2]}T{since[3] or '00:00:00'}", "s")
        except ValueError:
            raise self._fault("has times whose origin is not an instant") from None
        stamps: Instants = origin + np.round(counted).astype("timedelta64[s]")
        return stamps

    def _members(self) -> tuple[str | None, ...]:
        if self._realization is None:
            return (None,)
        if not is_numeric(self._realization) or len(self._realization.dimensions) != 1:
            raise self._fault("has realizations that are not numbers")
        return tuple(f"{label:.0f}" for label in numbers(self._realization).tolist())

    def _stations(self, variable: "Variable[Any]") -> list[str]:
        if variable.size > 10_000 * _MAX_ID:
            raise self._fault(f"has stations with names of more than {_MAX_ID} letters")
        values = np.ma.filled(variable[:], b"" if variable.dtype == "S1" else "")
        if values.ndim == 2 and values.dtype.kind == "S":  # characters, a row for each station
            return [b"".join(row).decode("ascii", "replace").strip("\0 ") for row in values]
        if values.ndim != 1:
            raise self._fault("has stations that are not named by texts")
        return [str(value).strip() for value in values.tolist()]


def written(output: Output) -> bytes:
    """Encode an output: its quantities over time, station and, for an ensemble, realization."""
    axes = ("time", "station") if output.members == (None,) else ("time", "station", "realization")
    variables = _coordinates(output, axes)
    methods = {"mean": "time: mean", "accumulative": "time: sum", "instantaneous": "time: point"}
    for quantity in output.quantities:
        attributes = {
            "units": _CF_UNITS[quantity.units],
            "long_name": quantity.long_name,
            "cell_methods": methods[quantity.kind],
            "coordinates": "lat lon station_id forecast_reference_time",
        }
        values = np.where(np.isfinite(quantity.values), quantity.values, MISSING_VALUE).transpose(2, 0, 1)
        shown = (values if len(axes) == 3 else values[:, :, 0]).astype("f4")
        variables[quantity.parameter] = numeric_variable(axes, shown, attributes, fill=float(MISSING_VALUE))
    shared = {"Conventions": "CF-1.8", "featureType": "timeSeries", "source": "Freshet"}
    return encode(variables, shared, "NETCDF3_CLASSIC")


def _coordinates(output: Output, axes: tuple[str, ...]) -> dict[str, "xarray.Variable"]:
    stations = output.locations
    since = {"units": "seconds since 1970-01-01 00:00:00.0 +0000", "calendar": "standard"}
    of_time = {"standard_name": "time", "axis": "T"} | since
    reference = {"standard_name": "forecast_reference_time"} | since
    name = {"cf_role": "timeseries_id", "long_name": "station identification code"}
    variables = {
        "time": numeric_variable(["time"], output.days.stamps.astype(np.int64).astype("f8"), of_time),
        "forecast_reference_time": numeric_variable([], output.time0.astype(np.int64).astype("f8"), reference),
        "station_id": text_variable("station", "characters", [place.id for place in stations], name),
        "lat": _place("latitude", "degrees_north", [place.latitude for place in stations]),
        "lon": _place("longitude", "degrees_east", [place.longitude for place in stations]),
    }
    if "realization" in axes:
        numbered = all(str(label).isdecimal() for label in output.members)
        numbers = [int(label) if numbered else at for at, label in enumerate(map(str, output.members))]
        attributes = {"standard_name": "realization", "units": "1", "axis": "E"}
        variables["realization"] = numeric_variable(["realization"], np.array(numbers, "i4"), attributes)
    return variables


def _place(standard_name: str, units: str, values: list[float | None]) -> "xarray.Variable":
    attributes, fill = {"standard_name": standard_name, "units": units}, float(MISSING_VALUE)
    return numeric_variable(
        ["station"], np.array([fill if one is None else one for one in values], "f8"), attributes, fill=fill
    )
