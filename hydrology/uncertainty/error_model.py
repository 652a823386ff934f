"""The error model: the distribution of forecast errors, given yesterday's observed flow.

Errors are differences of the cube roots of flow (Wilson and Hilferty 1931, doi:10.1073/pnas.17.12.684: nearly
symmetric where flow is gamma-distributed), each flow divided by the basin's mean simulated flow, so that basins can be
described together. An error is

    e(d) = memory r(d - gap) + centre + spread u,    r = the error of the day with the last observed flow

where memory, centre and spread of a basin are functions of the *gap* (days since the last observed flow) and of the
simulated flow, and u has a distribution by the same two that all basins share. Its shape is not assumed otherwise: it
is stored as quantiles. `hydrology.uncertainty.error_fit` fits the parameters.

What the last days show besides may move the numbers of a day: `hydrology.uncertainty.error_network`.

The correction by the last error is not part of the water ledger: it moves the forecast, not the water.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Integers, Mask
from hydrology.uncertainty.error_network import DaysAhead, ErrorNetwork, Tabled, features, moved

GAPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30)
"""Days since the last observed flow at which the error is described; between them it is interpolated."""
MAX_GAP = GAPS[-1]
"""Days after which an observed flow no longer informs the forecast."""
NO_FLOW_KNOWN = len(GAPS)
"""The row for a last observed flow older than the last gap, or none: it has no memory."""
FLOW_CLASSES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
"""Bounds of the classes of simulated flow, as non-exceedance shares of the days."""
LEVELS = (0.005, 0.01, 0.02, 0.03, *(round(0.05 * step, 2) for step in range(1, 20)), 0.97, 0.98, 0.99, 0.995)
"""Levels of the stored quantiles of a distribution."""
MIN_FLOWS = 1000
"""Minimum number of equally likely flows that represent a mixture over traces of weather."""
POWER = 1 / 3
MIN_MEAN_FLOW = 1e-6
"""mm/day: divisor of flows where a river is simulated dry on all days."""


@dataclass(frozen=True, slots=True, eq=False)
class _Stored:
    """Parameters that are stored as named arrays of float32.

    The share of the errors' variance that lasts for months, and its memory of a day: `error_persistence`.
    """

    lasting_share: float = field(default=0.0, kw_only=True)
    lasting_memory: float = field(default=0.0, kw_only=True)

    @classmethod
    def _names(cls) -> list[str]:
        elsewhere = ("days", "lasting_share", "lasting_memory", "network")
        return [part.name for part in fields(cls) if part.name not in elsewhere]

    def arrays(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return the parameters by name, as stored."""
        numbers: dict[str, Any] = {name: getattr(self, name) for name in self._names()}
        numbers["lasting"] = [self.lasting_share, self.lasting_memory]
        return {name: np.atleast_1d(np.asarray(values, np.float32)) for name, values in numbers.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], **more: Any) -> Self:
        """Create them from the result of `arrays`, or KeyError, and the fields that it does not contain (`days`)."""
        numbers: dict[str, Any] = {name: np.asarray(arrays[name], dtype=float) for name in cls._names()}
        if "mean_flow" in numbers:
            numbers["mean_flow"] = float(numbers["mean_flow"][0])
        share, memory = arrays["lasting"]
        return cls(**numbers, **more, lasting_share=float(share), lasting_memory=float(memory))


@dataclass(frozen=True, slots=True, eq=False)
class BasinErrors(_Stored):
    """The error parameters of a basin, `memory`, `centre` and `spread` of shape (gaps + 1, classes).

    `mean_flow` and `class_flow`, the median of each class, are simulated, mm/day. `days` are observed ones of its own;
    0 where it has the numbers of all basins.
    """

    mean_flow: float
    class_flow: Array
    memory: Array
    centre: Array
    spread: Array
    days: int


_NETWORK = "network."


@dataclass(frozen=True, slots=True, eq=False)
class Shape(_Stored):
    """Regional parameters, (gaps + 1, classes), u with a last axis of `LEVELS`; and the network, if one was trained."""

    memory: Array
    centre: Array
    spread: Array
    quantiles: Array
    network: ErrorNetwork | None = None

    def arrays(self) -> dict[str, npt.NDArray[np.float32]]:
        """Return the parameters by name, as stored, the network's with a prefix."""
        network = {} if self.network is None else self.network.arrays()
        return _Stored.arrays(self) | {_NETWORK + name: values for name, values in network.items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]], **more: Any) -> Self:
        """Create them from the result of `arrays`, or KeyError."""
        stored = {name.removeprefix(_NETWORK): arrays[name] for name in arrays if name.startswith(_NETWORK)}
        network = ErrorNetwork.from_arrays(stored) if stored else None
        return super(Shape, cls).from_arrays(arrays, network=network, **more)

    def of_basin(self, simulated: Array) -> BasinErrors:
        """Return the errors of a basin without observations: regional, scaled by its flow of several years, mm/day."""
        mean_flow, class_flow, _ = classes_of(simulated)
        numbers = (self.memory, self.centre, self.spread)
        regional = BasinErrors(mean_flow, class_flow, *numbers, days=0)
        return replace(regional, lasting_share=self.lasting_share, lasting_memory=self.lasting_memory)

    def flow_quantiles(self, errors: BasinErrors, simulated: Array, gap: Array, last_error: Array) -> Array:
        """Return the quantiles of a basin's flow at `LEVELS`, (days, levels), from simulated flow (days,), in mm/day.

        They are by the tables alone.

        Args:
            gap: (days,), days from the last observed flow to each; beyond the last of `GAPS` that flow has no
                influence.
            last_error: (days,), `errors_of` the day of that flow; NaN where no flow was observed.
        """
        flow_known = np.isfinite(last_error) & (gap <= MAX_GAP)
        at = Place.of(errors, simulated, np.where(flow_known, gap, np.nan))
        centre = at.read(errors.centre) + at.read(errors.memory) * np.where(flow_known, last_error, 0.0)
        return _flows(errors, simulated, centre[:, None] + at.read(errors.spread)[:, None] * at.read(self.quantiles))

    def quantiles_ahead(self, errors: BasinErrors, ahead: DaysAhead) -> Array:
        """Return the quantiles of `flow_quantiles`, by the network where there is one and the last flow is known."""
        last_error = ahead.last_errors[:, 0]
        quantiles = self.flow_quantiles(errors, ahead.simulated, ahead.gap, last_error)
        known = flow_known(ahead)
        if self.network is not None and known.any():
            taken = NetworkInputs.of(errors, ahead.at(known))
            centre, above, below = moved(self.network.moves(taken.features), taken.tabled, last_error[known])
            u = taken.at.read(self.network.quantiles.astype(float))
            error = centre[:, None] + np.where(u > 0, above[:, None], below[:, None]) * u
            quantiles[known] = _flows(errors, ahead.simulated[known], error)
        return quantiles


@dataclass(frozen=True, slots=True, eq=False)
class BasinErrorModel:
    """The error model of one basin: its errors, and the matching shape."""

    shape: Shape
    errors: BasinErrors

    @classmethod
    def of(cls, shape: Shape, regional: Shape, errors: BasinErrors) -> Self:
        """Combine a basin's errors with the shape for basins with own parameters, or the regional one."""
        return cls(shape if errors.days else regional, errors)

    def quantiles(self, ahead: DaysAhead) -> Array:
        """Return the quantiles of flow at `LEVELS`, (days, levels) in mm/day."""
        return self.shape.quantiles_ahead(self.errors, ahead)

    def root_shifts(self, gaps: Array, last: DaysAhead) -> Array:
        """Return by how much the median moves the cube root of steady flow, (gaps, classes) in (mm/day)^(1/3).

        Gaps are days from the last observed flow, after the same last days as the first day of `last` has.
        """
        flow = self.errors.class_flow
        ahead = last.steady(np.tile(flow, len(gaps)), np.repeat(gaps, len(flow)))
        median = self.quantiles(ahead)[:, LEVELS.index(0.5)].reshape(len(gaps), -1)
        return np.asarray(np.cbrt(median) - np.cbrt(flow))


@dataclass(frozen=True, slots=True)
class NetworkInputs:
    """What an error network takes of some days whose last flow is known, and their places in the tables."""

    at: "Place"
    tabled: Tabled
    features: npt.NDArray[np.float32]

    @classmethod
    def of(cls, errors: BasinErrors, ahead: DaysAhead) -> Self:
        at = Place.of(errors, ahead.simulated, ahead.gap)
        tabled = Tabled(*(at.read(table) for table in (errors.memory, errors.centre, errors.spread)))
        flows = (ahead.simulated, ahead.before, ahead.last_simulated)
        now, before, last = (root(flow, errors.mean_flow) for flow in flows)
        roots = replace(ahead, simulated=now, before=before, last_simulated=last)
        return cls(at, tabled, features(ahead, tabled, roots, errors.lasting_share))


def flow_known(ahead: DaysAhead) -> Mask:
    """Return the days whose last flow is known, and no older than `MAX_GAP`."""
    return np.asarray(np.isfinite(ahead.last_errors[:, 0]) & (ahead.gap <= MAX_GAP))


def _flows(errors: BasinErrors, simulated: Array, error: Array) -> Array:
    """Return flows (days, levels) from simulated ones (days,) and errors (days, levels), mm/day."""
    roots = np.maximum(root(simulated, errors.mean_flow)[:, None] + error, 0.0)
    return np.asarray(roots ** (1 / POWER) * errors.mean_flow)


def errors_of(errors: BasinErrors, simulated: Array, observed: Array) -> Array:
    """Return the errors r of days, from flows in mm/day; NaN where flow was not observed."""
    return root(observed, errors.mean_flow) - root(simulated, errors.mean_flow)


def shifted(flow: Array, flows: Array, root_shifts: Array) -> Array:
    """Return flow (mm/day, any shape) moved by `root_shifts` of some rising flows (flows,); NaN stays NaN."""
    return np.asarray(np.maximum(np.cbrt(flow) + np.interp(flow, flows, root_shifts), 0.0) ** 3)


def mixed(quantiles: Array) -> Array:
    """Mix equally likely distributions by their quantiles: (traces, ..., levels) to (..., levels).

    Each is represented by equally likely flows, and the quantiles of all of these are taken, so that the spread between
    traces of weather adds to the spread of each. Their levels differ between traces, and together are even: else no
    flow of many traces would be beyond the last level of one.
    """
    traces, *others, _ = quantiles.shape
    count = -(-MIN_FLOWS // traces)
    levels = even_levels(traces * count).reshape(count, traces)[:, np.random.default_rng(0).permutation(traces)].T
    upper, across = between_levels(levels, LEVELS)
    shape = traces, *(1 for _ in others), count
    low, high = (np.take_along_axis(quantiles, at.reshape(shape), axis=-1) for at in (upper - 1, upper))
    likely = low * (1 - across.reshape(shape)) + high * across.reshape(shape)
    pooled = np.sort(np.moveaxis(likely, 0, -2).reshape(*others, traces * count), axis=-1)
    below, over = _split(np.clip(np.asarray(LEVELS) * pooled.shape[-1] - 0.5, 0, pooled.shape[-1] - 1))
    above = np.minimum(below + 1, pooled.shape[-1] - 1)
    return np.asarray(pooled[..., below] * (1 - over) + pooled[..., above] * over)


def even_levels(count: int) -> Array:
    """Return the levels of a number of equally likely values, each in the middle of its share."""
    return np.asarray((np.arange(count) + 0.5) / count)


def even_flows(quantiles: Array, count: int) -> Array:
    """Return a number of equally likely flows of each distribution, (..., levels) to (..., flows)."""
    upper, across = between_levels(even_levels(count), LEVELS)
    return np.asarray(quantiles[..., upper - 1] * (1 - across) + quantiles[..., upper] * across)


def between_levels(shares: Array, levels: Sequence[float]) -> tuple[npt.NDArray[np.intp], Array]:
    """Return the place of shares among increasing levels: the level above, and the fraction on the way to it."""
    level = np.asarray(levels, dtype=np.float64)
    upper = np.clip(np.searchsorted(level, shares), 1, len(level) - 1)
    return upper, np.clip((shares - level[upper - 1]) / (level[upper] - level[upper - 1]), 0, 1)


def classes_of(simulated: Array) -> tuple[float, Array, Integers]:
    """Return the mean flow, the median flow of each class and each day's class."""
    bounds = np.quantile(simulated, FLOW_CLASSES[1:-1])
    classes = np.searchsorted(bounds, simulated, side="right")
    middle = (np.array(FLOW_CLASSES[:-1]) + FLOW_CLASSES[1:]) / 2
    return max(float(simulated.mean()), MIN_MEAN_FLOW), np.quantile(simulated, middle), classes


def root(flow: Array, mean_flow: float) -> Array:
    """Return the cube roots of flows in mm/day, relative to the mean flow."""
    return np.asarray((flow / mean_flow) ** POWER)


@dataclass(frozen=True, slots=True)
class Place:
    """The positions of days between the rows (gaps) and columns (classes) of a table."""

    row: Array
    column: Array

    @classmethod
    def of(cls, errors: BasinErrors, simulated: Array, gap: Array) -> Self:
        """Return the positions of days. Their gap is NaN where no flow is known."""
        row = np.where(np.isnan(gap), NO_FLOW_KNOWN, np.interp(gap, GAPS, np.arange(len(GAPS))))
        return cls(row, np.interp(simulated, errors.class_flow, np.arange(len(errors.class_flow))))

    def read(self, table: Array) -> Array:
        """Interpolate a table (rows, columns, ...) at the positions, in both directions."""
        (top, down), (left, across) = _split(self.row), _split(self.column)
        bottom, right = np.minimum(top + 1, len(table) - 1), np.minimum(left + 1, table.shape[1] - 1)
        shape = (-1, *[1] * (table.ndim - 2))
        down, across = down.reshape(shape), across.reshape(shape)
        upper = (1 - across) * table[top, left] + across * table[top, right]
        lower = (1 - across) * table[bottom, left] + across * table[bottom, right]
        return np.asarray((1 - down) * upper + down * lower)


def _split(place: Array) -> tuple[Integers, Array]:
    whole = np.floor(place).astype(np.int64)
    return whole, place - whole
