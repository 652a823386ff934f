"""Grids in NetCDF and Zarr, by the conventions of CF and the usual names of axes, read in blocks of whole chunks."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from extensions.grid.cells import Axes, BasinWeights, mean_of
from extensions.grid.days import Field
from extensions.grid.quantities import ELEVATION, FLUXES, QUANTITY_OF, TEMPERATURE, TMAX, TMIN, UNITS, Unit, spelt
from hydrology.base.arrays import Array
from hydrology.base.errors import excerpt
from hydrology.weather.forcing import MAX_TRACES
from ingestion.base import SourceError
from ingestion.netcdf import Instants, instants, is_numeric, numbers

MAX_STEPS = 20_000
_BLOCK = 2**21  # values read at once, if a chunk is not larger
_ROLES = {
    "latitude": ("latitude", "lat"),
    "longitude": ("longitude", "lon"),
    "member": ("realization", "number", "member", "ensemble_member", "ensemble"),
    "reference": ("forecast_reference_time", "init_time", "reference_time"),
    "lead": ("forecast_period", "step", "lead_time", "prediction_timedelta"),
    "time": ("time", "valid_time"),
}
"""What an axis is, by its standard name or its variable's name."""
_HOURS = {"s": 1 / 3_600, "second": 1 / 3_600, "minute": 1 / 60, "h": 1, "hour": 1, "hr": 1, "d": 24, "day": 24}
_METHOD = re.compile(r"(?:time|step|lead_time|valid_time)\s*:\s*(point|mean|sum|maximum|minimum)\b")
_EXTREMES = {"maximum": TMAX, "minimum": TMIN}
_ONE_DAY = np.timedelta64(86_400, "s")
_NEVER = (np.datetime64(0, "s"), np.datetime64(0, "s"))


@dataclass(frozen=True, slots=True)
class Layer:
    """A variable, the name that its quantity has here, its unit, and its dimensions: members, steps, rows, columns."""

    name: str
    variable: Any
    unit: Unit
    method: str | None
    dimensions: Sequence[str | None]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(1 if name is None else self.variable.sizes[name] for name in self.dimensions)

    def block(self, part: Sequence[slice]) -> Array:
        """Read a part (cells, members x steps)."""
        held = {name: of for name, of in zip(self.dimensions, part, strict=True) if name is not None}
        values = self.variable.isel(held).transpose(*held).values.astype(np.float64)
        rows, columns = values.shape[-2:]
        return np.asarray(values.reshape(-1, rows * columns).T)

    def parts(self, wanted: Sequence[range]) -> Iterator[tuple[slice, ...]]:
        """Yield the parts of the wanted members, steps, rows and columns to read at once: whole chunks."""
        chunks = self.variable.encoding.get("preferred_chunks") or {}
        sizes = [min(chunks.get(name, 1), len(of)) for name, of in zip(self.dimensions, wanted, strict=True)]
        for axis in (3, 2, 1, 0):
            sizes[axis] = min(len(wanted[axis]), sizes[axis] * max(1, _BLOCK // prod(sizes)))
        starts = (range(of.start // size * size, of.stop, size) for of, size in zip(wanted, sizes, strict=True))
        for start in product(*starts):
            bounds = zip(start, sizes, wanted, strict=True)
            yield tuple(slice(max(at, of.start), min(at + size, of.stop)) for at, size, of in bounds)


class GridDataset:
    """A data set with variables on one grid, of one run or of observations.

    Attributes:
        axes: of its grid.
        reference: when the run began, the last of several; None of observations.
        source, model: institution and source, as it states them; issued: when it was published.
    """

    def __init__(self, file: str, dataset: Any) -> None:
        self._file = file
        if (several := _axis(dataset, "reference")) is not None and several.ndim:
            dataset = dataset.isel({several.dims[0]: -1})
        self._dataset, self._axes = dataset, {role: _axis(dataset, role) for role in _ROLES}
        latitude, longitude, reference = (self._axes[role] for role in ("latitude", "longitude", "reference"))
        if latitude is None or longitude is None or latitude.ndim != 1 or longitude.ndim != 1:
            raise SourceError(file, "has no axis of latitudes or of longitudes", "give a grid of degrees")
        self.axes = Axes.of(file, numbers(latitude), numbers(longitude))
        self.reference = None if reference is None else instants(file, reference).reshape(1)[0]
        self.source, self.model = (str(dataset.attrs.get(name, "")) for name in ("institution", "source"))
        self.issued = dataset.attrs.get("date_issued")

    def fields(self, weights: BasinWeights, wanted: Instants | None) -> Iterator[Field]:
        """Yield the means of basins at every step; `wanted`: only between two instants."""
        labels = self._labels()
        for layer in self._layers():
            if QUANTITY_OF[layer.name] == ELEVATION:
                yield Field(layer.name, "", _NEVER, self._means(layer, weights, slice(0, 1))[0, 0], False)
                continue
            spans = self._spans(layer)
            steps = slice(0, len(spans))
            if wanted is not None:
                (inside,) = np.nonzero((spans[:, 1] >= wanted[0]) & (spans[:, 0] <= wanted[1]))
                if not len(inside):
                    continue
                steps = slice(int(inside[0]), int(inside[-1]) + 1)
            means = self._means(layer, weights, steps)
            for label, of_member in zip(labels[: len(means)], means, strict=True):
                for span, values in zip(spans[steps], of_member, strict=True):
                    if span[0] < span[1] or QUANTITY_OF[layer.name] not in FLUXES:
                        yield Field(layer.name, label, (span[0], span[1]), values, layer.unit.is_rate)

    def _means(self, layer: Layer, weights: BasinWeights, steps: slice) -> Array:
        """Return means (members, steps, basins)."""
        width, used = len(self.axes.longitudes), np.zeros(weights.matrix.shape[1], bool)
        used[weights.matrix.indices] = True
        axes = (np.nonzero(used.reshape(-1, width).any(axis=axis))[0].tolist() or [0] for axis in (1, 0))
        window = [range(axis[0], axis[-1] + 1) for axis in axes]
        sums, covered = np.zeros((2, layer.shape[0], steps.stop - steps.start, weights.matrix.shape[0]))
        for part in layer.parts([range(layer.shape[0]), range(steps.start, steps.stop), *window]):
            row, column = (np.arange(one.start, one.stop) for one in part[2:])
            cells = (row[:, None] * width + column).ravel()
            inside = used[cells]
            place = part[0], slice(part[1].start - steps.start, part[1].stop - steps.start)
            of_block = weights.sums(layer.block(part)[inside], cells[inside])
            for total, of_part in zip((sums, covered), of_block, strict=True):
                total[place] += of_part.T.reshape(total[place].shape)
        return np.asarray(mean_of(sums, covered) * layer.unit.scale + layer.unit.offset, dtype=np.float32)

    def _layers(self) -> Iterator[Layer]:
        seen: dict[str, str] = {}
        for name, variable in self._dataset.data_vars.items():
            stated = str(variable.attrs.get("standard_name", "")).lower()
            key = next((key for key in (stated, str(name).lower()) if key in QUANTITY_OF), None)
            dimensions = [self._dimension(role, variable) for role in ("member", "step", "latitude", "longitude")]
            lengths = {dimension: variable.sizes[dimension] for dimension in variable.dims}
            others = {dimension for dimension in lengths if dimension not in dimensions}
            if key is None or None in dimensions[2:] or any(lengths[other] > 1 for other in others):
                continue
            method = _METHOD.search(str(variable.attrs.get("cell_methods", "")))
            if QUANTITY_OF[key] == TEMPERATURE and method is not None:
                key = _EXTREMES.get(method[1], key)
            if seen.setdefault(key, str(name)) != name:
                raise SourceError(self._file, f"has {seen[key]} and {name}, which are both {key}", "give one of them")
            unit = UNITS[QUANTITY_OF[key]].get(stated := spelt(variable.attrs.get("units", "")))
            if unit is None or not is_numeric(variable):
                raise SourceError(
                    self._file,
                    f"has {name} in {excerpt(stated)}, which is not a unit of {QUANTITY_OF[key]}",
                    f"convert it to one of {', '.join(UNITS[QUANTITY_OF[key]])}, and state that as its units",
                )
            variable = variable.isel(dict.fromkeys(others, 0))
            yield Layer(key, variable, unit, method[1] if method else None, dimensions)

    def _dimension(self, role: str, variable: Any) -> str | None:
        """Return the dimension of a variable that an axis has, if any."""
        axis = self._steps() if role == "step" else self._axes[role]
        return axis.dims[0] if axis is not None and axis.ndim and axis.dims[0] in variable.dims else None

    def _steps(self) -> Any:
        has_leads = self.reference is not None and self._axes["lead"] is not None
        return self._axes["lead" if has_leads else "time"]

    def _labels(self) -> list[str]:
        axis = self._axes["member"]
        labels = np.zeros(1) if axis is None else numbers(axis).reshape(-1) if is_numeric(axis) else np.array([np.nan])
        if not (labels % 1 == 0).all() or not 0 < len({*labels.tolist()}) == len(labels) <= MAX_TRACES:
            raise SourceError(self._file, f"has not 1 to {MAX_TRACES} members with numbers of their own", "number them")
        return [str(int(label)) for label in labels]

    def _instants(self, variable: Any, axis: Any) -> Instants:
        if axis is self._axes["time"]:
            return instants(self._file, variable, axis)
        hours = _HOURS.get(str(axis.attrs.get("units", "")).removesuffix("s") or "s")
        if hours is None or not np.isfinite(numbers(variable)).all():
            raise SourceError(self._file, f"has {axis.name} without a unit of time", "state it in hours")
        seconds = np.round(numbers(variable) * hours * 3_600)
        if (np.abs(seconds) > 366 * 86_400).any():
            raise SourceError(self._file, f"has {axis.name} of more than a year", "correct it")
        return np.asarray(self.reference + seconds.astype("timedelta64[s]"))

    def _spans(self, layer: Layer) -> Instants:
        """Return begin and end of each step of a variable, (steps, 2).

        By the bounds of the times. Without any, a state is of an instant; an observed amount and every rate is since
        the time before, an amount of a run since the run began; and daily observations are of the day of their time.
        """
        axis, quantity = self._steps(), QUANTITY_OF[layer.name]
        if axis is None or axis.size > MAX_STEPS or "climatology" in axis.attrs:
            cause = f"has no times, more than {MAX_STEPS}, or those of a climatology"
            raise SourceError(self._file, cause, "give the times of a period")
        times = self._instants(axis, axis).reshape(-1)
        stated = axis.attrs.get("bounds")
        bounds = self._dataset[stated] if stated in self._dataset.variables else None
        if bounds is not None and bounds.size == 2 * len(times):
            spans = self._instants(bounds, axis).reshape(-1, 2)
        elif self.reference is None and layer.method != "point" and {*np.diff(times)} == {_ONE_DAY}:
            days = times.astype("datetime64[D]").astype(times.dtype)
            return np.column_stack([days, days + _ONE_DAY])
        elif layer.method == "point" or (layer.method is None and quantity in _STATES):
            spans = np.column_stack([times, times])
        elif self.reference is not None and quantity in FLUXES and not layer.unit.is_rate:
            spans = np.column_stack([np.full(len(times), self.reference), times])
        elif len(times) < 2 and self.reference is None:
            raise SourceError(self._file, f"has one {axis.name} without bounds", "give its begin and end as bounds")
        else:
            first = times[0] - (times[1] - times[0]) if self.reference is None else min(self.reference, times[0])
            spans = np.column_stack([np.append(first, times[:-1]), times])
        if (spans[:, 1] < spans[:, 0]).any() or (np.diff(spans[:, 1]) <= np.timedelta64(0)).any():
            raise SourceError(self._file, f"has {axis.name} out of order", "give each step once, in order of time")
        return spans


_STATES = ("temperature", "dew point", "vp")


def _axis(dataset: Any, role: str) -> Any:
    """Return the variable of an axis, by its standard name or else by its own; None without one."""
    standard_name, *_ = names = _ROLES[role]
    variables = [(name, dataset[name].attrs.get("standard_name")) for name in dataset.variables]
    stated = [name for name, standard in variables if standard == standard_name]
    named = [name for name, standard in variables if standard is None and name in names]
    return next((dataset[name] for name in (*stated, *named)), None)
