"""A weather forecast as NetCDF-CF: stations, days and realizations, with a forecast_reference_time.

The variables have our names (precipitation, tmax, ...) and state their units. A day is given by the lower bound of its
time, or without bounds by its time, which is then its midnight; either by the calendar at the gauge. The global
attributes `institution` and `source` name provider and model; `license`, `acknowledgement` and `date_issued` are
optional and give the licence, the credit and the time of availability.
"""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from hydrology.base.calendar import Days
from hydrology.base.products import WEATHER
from hydrology.weather.forcing import MAX_LEADS, MAX_TRACES, Array, Trace, WeatherIssue
from ingestion.base import SourceFile
from ingestion.cf_stations import StationSeries
from ingestion.netcdf import is_numeric, numbers, opened
from ingestion.weather.document import MAX_BASINS, WeatherFile, assembled, instant
from ingestion.weather.table import ONLY_TRACE

if TYPE_CHECKING:
    from netCDF4 import Dataset

_MAX_TEXT = 500
_MAX_VALUES = 20_000_000  # per variable: a few bytes may state a length that fills the memory
_SPELLINGS = {
    "mm/day": ("mm/day", "mm day-1", "mm d-1", "mm/d"),
    "degC": ("degC", "degree_Celsius", "degrees_Celsius", "celsius"),
    "W/m2": ("W/m2", "W m-2"),
    "Pa": ("Pa",),
    "s": ("s",),
}
"""Spellings of our units."""


def parse_netcdf(file: SourceFile, content: bytes, received: datetime) -> WeatherFile:
    """Read a weather forecast from a NetCDF-CF file."""
    with opened(file, content) as dataset:
        layout = StationSeries(file.name, dataset, "lay it out as NetCDF-CF has an ensemble forecast of stations")
        _check_sizes(layout)
        issue, days, labels = _issue(layout, received), _days(layout), layout.labels() or [ONLY_TRACE]
        values, units = _values(layout)
        by_basin = [
            (
                station,
                [
                    Trace(label, days, {name: array[at, trace] for name, array in values.items()})
                    for trace, label in enumerate(labels)
                ],
            )
            for at, station in enumerate(layout.names())
        ]
        return assembled(issue, by_basin, units)


def _check_sizes(layout: StationSeries) -> None:
    stations, *realizations, days = (len(layout.dataset.dimensions[name]) for name in layout.axes)
    traces = realizations[0] if realizations else 1
    if not (0 < stations <= MAX_BASINS and 0 < traces <= MAX_TRACES and 0 < days <= MAX_LEADS):
        limits = f"{MAX_BASINS} stations, {MAX_TRACES} realizations and {MAX_LEADS} days"
        raise layout.fault(f"has none or more than {limits}")
    if stations * traces * days > _MAX_VALUES:
        raise layout.fault(f"has more than {_MAX_VALUES} values of a variable")


def _issue(layout: StationSeries, received: datetime) -> WeatherIssue:
    reference = layout.found("a forecast_reference_time", standard_name="forecast_reference_time")
    if reference.size != 1:
        raise layout.fault("has not one forecast_reference_time")
    issued = _text(layout.dataset, "date_issued")
    available = received if issued is None else instant(issued)
    if available is None:
        raise layout.fault("has a date_issued that is not an instant with its offset")
    return WeatherIssue(
        source=_text(layout.dataset, "institution") or "",
        model=_text(layout.dataset, "source") or "",
        reference_time=layout.instants(reference).reshape(1)[0].astype(datetime).replace(tzinfo=UTC),
        available_time=available,
        licence=_text(layout.dataset, "license"),
        credit=_text(layout.dataset, "acknowledgement"),
    )


def _text(dataset: "Dataset", name: str) -> str | None:
    text = getattr(dataset, name, None)
    return text.strip()[: _MAX_TEXT + 1] or None if isinstance(text, str) else None


def _days(layout: StationSeries) -> Days:
    """Return the valid day of each time: of its lower bound, where it has bounds."""
    bounds = layout.day_bounds()
    begins = layout.instants(layout.time) if bounds is None else bounds[:, 0]
    days: Days = begins.astype("datetime64[D]")
    if (begins != days).any():
        at = int((begins != days).argmax())
        raise layout.fault(f"has a day that begins at {begins[at]} ({layout.time.name}[{at}]), not at midnight")
    return days


def _values(layout: StationSeries) -> tuple[dict[str, Array], dict[str, str]]:
    """Return values (stations, realizations, days) and units by variable."""
    values, units = {}, {}
    for name in WEATHER.keys() & layout.dataset.variables.keys():
        variable = layout.dataset.variables[name]
        if sorted(variable.dimensions) != sorted(layout.axes) or not is_numeric(variable):
            raise layout.fault(f"has {name} that is not a number for each station, realization and day")
        order = [variable.dimensions.index(axis) for axis in layout.axes]
        array = numbers(variable).transpose(order).astype(np.float32)
        values[name] = array[:, None] if layout.realization is None else array
        stated, ours = str(getattr(variable, "units", "")), WEATHER[name].unit
        units[name] = ours if stated.strip() in _SPELLINGS.get(ours, ()) else stated
    return values, units
