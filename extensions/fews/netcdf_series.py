"""Reads and writes time series as NetCDF-CF, as Delft-FEWS does (`NETCDF-CF_TIMESERIES`)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from extensions.fews.series import ImportedSeries, Output
from ingestion.base import described
from ingestion.netcdf import StationSeries, is_numeric, numbers, opened
from runtime.netcdf import encode, numeric_variable, text_variable

if TYPE_CHECKING:
    import xarray

MISSING_VALUE = np.float32(9.96921e36)
_MAX_VALUES = 50_000_000
_CF_UNITS = {"m3/s": "m3 s-1", "mm": "mm"}


def read(content: bytes, file: str) -> Iterator[ImportedSeries]:
    """Yield the series of a file. One for each variable, station and realization."""
    with opened(described(file, content), content) as dataset:
        layout = StationSeries(file, dataset, "lay it out as Delft-FEWS exports NETCDF-CF_TIMESERIES")
        bounds, stations, members = layout.day_bounds(), layout.names(), layout.labels()
        stamps = layout.instants(layout.time) if bounds is None else bounds[:, 1]
        place, *_, end = layout.axes
        for name, variable in dataset.variables.items():
            has_members = members is not None and set(layout.axes) == set(variable.dimensions)
            axes = layout.axes if has_members else (place, end)
            if sorted(variable.dimensions) != sorted(axes) or not is_numeric(variable):
                continue
            if variable.size > _MAX_VALUES:
                raise layout.fault(f"has more than {_MAX_VALUES} values of a variable")
            values = numbers(variable).transpose([variable.dimensions.index(axis) for axis in axes])
            labels = members if members is not None and has_members else (None,)
            for station, of_station in zip(stations, values, strict=True):
                for label, row in zip(labels, of_station.reshape(len(labels), -1), strict=True):
                    yield ImportedSeries(
                        file=file,
                        location=station,
                        parameter=name,
                        kind="mean",
                        units=str(getattr(variable, "units", "")),
                        ensemble=None,
                        member=label,
                        stamps=stamps,
                        values=row,
                    )


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
