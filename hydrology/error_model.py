"""How far observed flow lies from forecasts: the distribution of the error, and what yesterday's flow tells of it.

Errors are differences of the cube roots of flow (Wilson and Hilferty 1931, doi:10.1073/pnas.17.12.684: nearly
symmetric where flow is gamma-distributed), each flow divided by the basin's mean simulated flow, so that basins can
be told together. An error is

    e(d) = memory r(d - gap) + centre + spread u,    r = the error of the day with the last observed flow

where memory, centre and spread of a basin are functions of the *gap* (days since the last observed flow) and of the
simulated flow, and u has a distribution by the same two that all basins share. Nothing else is assumed of its shape:
it is kept as quantiles. What a basin's own days say of a number is weighed against what all basins say, by how many
days there are; a basin without observations has the numbers of all basins alone.

The correction by the last error is none of the water ledger: it moves the forecast, not the water.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.errors import DataProblem

Array = npt.NDArray[np.float64]

GAPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 20, 30)
"""Days since the last observed flow at which the error is described; between them it is interpolated."""
NO_FLOW_KNOWN = len(GAPS)
"""The row of a basin whose last observed flow is older than the last gap, or that has none: it has no memory."""
FLOW_CLASSES = (0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
"""Bounds of the classes of simulated flow, as shares of the days that are lower."""
LEVELS = (0.005, 0.01, 0.02, 0.03, *(round(0.05 * step, 2) for step in range(1, 20)), 0.97, 0.98, 0.99, 0.995)
"""Of the quantiles that a distribution is kept as."""
PRIOR_DAYS = 100
"""So many days of a basin weigh as much as what all basins say."""
LEAST_DAYS = 20
"""With fewer days in a class nothing is taken from them: a basin's own, or of all basins together."""
NO_SPREAD = 1e-9
"""Of a class in which every error is the same: a river that is dry on all its days."""
POWER = 1 / 3


@dataclass(frozen=True, slots=True)
class Pairs:
    """Simulated and observed flow of a basin on the same days in mm/day, NaN where it was not observed."""

    simulated: Array
    observed: Array


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What all basins share, (gaps + 1, classes), and for u a last axis of `LEVELS`."""

    memory: Array
    centre: Array
    spread: Array
    quantiles: Array


@dataclass(frozen=True, slots=True, eq=False)
class BasinErrors:
    """The error of a basin's forecasts, `memory`, `centre` and `spread` of shape (gaps + 1, classes).

    Attributes:
        mean_flow: mean of the simulated flow, mm/day.
        class_flow: the median simulated flow of each class, mm/day, to interpolate between classes.
        days: how many observed days of its own it rests on; 0 where it has the numbers of all basins.
    """

    mean_flow: float
    class_flow: Array
    memory: Array
    centre: Array
    spread: Array
    days: int


@dataclass(frozen=True)
class ErrorModel:
    """The errors of the basins that it was fitted to, and what they share."""

    shape: Shape
    basins: Mapping[str, BasinErrors]

    @classmethod
    def fitted(cls, pairs: Mapping[str, Pairs]) -> Self:
        """Return the error model of some basins' simulations over the same days.

        Args:
            pairs: days in order and without a gap, in mm/day.

        Raises:
            DataProblem: a class has too few observed days over all basins.
        """
        residuals = [_Residuals.of(basin) for basin in pairs.values()]
        shared, quantiles, own = zip(*(_fitted_at(residuals, gap) for gap in (*GAPS, None)), strict=True)
        shape = Shape(
            memory=np.stack([numbers.memory for numbers in shared]),
            centre=np.stack([numbers.centre for numbers in shared]),
            spread=np.stack([numbers.spread for numbers in shared]),
            quantiles=np.stack(quantiles),
        )
        basins = {
            name: BasinErrors(
                mean_flow=residual.mean_flow,
                class_flow=residual.class_flow,
                memory=np.stack([numbers.memory[at] for numbers in own]),
                centre=np.stack([numbers.centre[at] for numbers in own]),
                spread=np.stack([numbers.spread[at] for numbers in own]),
                days=residual.observed_days,
            )
            for at, (name, residual) in enumerate(zip(pairs, residuals, strict=True))
        }
        return cls(shape, basins)

    def of_basin(self, basin: str, simulated: Array) -> BasinErrors:
        """Return the errors of a basin: its own, or those of all basins scaled by what is simulated of it.

        Args:
            simulated: its flow over several years in mm/day, for a basin that the model was not fitted to.
        """
        if basin in self.basins:
            return self.basins[basin]
        mean_flow, class_flow, _ = _classes(simulated)
        return BasinErrors(mean_flow, class_flow, self.shape.memory, self.shape.centre, self.shape.spread, 0)

    def quantiles(self, errors: BasinErrors, simulated: Array, gap: Array, last_error: Array) -> Array:
        """Return the quantiles of flow at `LEVELS`, (days, levels) in mm/day.

        Args:
            simulated: (days,) in mm/day.
            gap: (days,), days from the last observed flow to each; beyond the last of `GAPS` it tells nothing.
            last_error: (days,), `errors_of` the day of that flow; NaN where no flow was observed.
        """
        flow_known = np.isfinite(last_error) & (gap <= GAPS[-1])
        at = _Place.of(errors, simulated, np.where(flow_known, gap, np.nan))
        centre = at.read(errors.centre) + at.read(errors.memory) * np.where(flow_known, last_error, 0.0)
        error = centre[:, None] + at.read(errors.spread)[:, None] * at.read(self.shape.quantiles)
        return _flow(_root(simulated, errors.mean_flow)[:, None] + error, errors.mean_flow)


def errors_of(errors: BasinErrors, simulated: Array, observed: Array) -> Array:
    """Return the errors r of days, of flows in mm/day; NaN where flow was not observed."""
    return _root(observed, errors.mean_flow) - _root(simulated, errors.mean_flow)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where days lie between the rows (gaps) and columns (classes) of a table."""

    row: Array
    column: Array

    @classmethod
    def of(cls, errors: BasinErrors, simulated: Array, gap: Array) -> Self:
        """Return the places of days; their gap is NaN where no flow is known."""
        row = np.where(np.isnan(gap), NO_FLOW_KNOWN, np.interp(gap, GAPS, np.arange(len(GAPS))))
        return cls(row, np.interp(simulated, errors.class_flow, np.arange(len(errors.class_flow))))

    def read(self, table: Array) -> Array:
        """Return the values of a table (rows, columns, ...) at the places, interpolated in both directions."""
        (top, down), (left, across) = _split(self.row), _split(self.column)
        bottom, right = np.minimum(top + 1, len(table) - 1), np.minimum(left + 1, table.shape[1] - 1)
        shape = (-1, *[1] * (table.ndim - 2))
        down, across = down.reshape(shape), across.reshape(shape)
        upper = (1 - across) * table[top, left] + across * table[top, right]
        lower = (1 - across) * table[bottom, left] + across * table[bottom, right]
        return np.asarray((1 - down) * upper + down * lower)


def _split(place: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """Return whole numbers and what is over them."""
    whole = np.floor(place).astype(np.int64)
    return whole, place - whole


@dataclass(frozen=True, slots=True)
class _Residuals:
    """The errors r of a basin's days, NaN where flow was not observed, and the class of each day."""

    mean_flow: float
    class_flow: Array
    classes: npt.NDArray[np.int64]
    errors: Array

    @classmethod
    def of(cls, pairs: Pairs) -> Self:
        mean_flow, class_flow, classes = _classes(pairs.simulated)
        errors = _root(pairs.observed, mean_flow) - _root(pairs.simulated, mean_flow)
        return cls(mean_flow, class_flow, classes, errors)

    @property
    def observed_days(self) -> int:
        return int(np.isfinite(self.errors).sum())

    def before(self, gap: int | None) -> tuple[list[Array], list[Array]]:
        """Return the errors of the days of each class, and those of the days a gap before; zeros without a gap.

        Days on which one of both is not known are left out.
        """
        earlier = np.zeros_like(self.errors)
        if gap is not None:
            earlier = np.concatenate([np.full(gap, np.nan), self.errors[:-gap]])
        known = np.isfinite(self.errors + earlier)
        chosen = [known & (self.classes == number) for number in range(len(FLOW_CLASSES) - 1)]
        return [self.errors[days] for days in chosen], [earlier[days] for days in chosen]


@dataclass(frozen=True, slots=True)
class _Numbers:
    """Memory, centre and spread by class, of all basins (classes,) or of each (basins, classes)."""

    memory: Array
    centre: Array
    spread: Array


def _fitted_at(residuals: Sequence[_Residuals], gap: int | None) -> tuple[_Numbers, Array, _Numbers]:
    """Return what all basins share at a gap, the quantiles of u (classes, `LEVELS`), and each basin's numbers."""
    by_basin = [basin.before(gap) for basin in residuals]
    count = len(FLOW_CLASSES) - 1
    memories = [_memories([now[k] for now, _ in by_basin], [before[k] for _, before in by_basin]) for k in range(count)]
    memory_of_all = np.array([of_all for of_all, _ in memories])
    memory = np.stack([of_each for _, of_each in memories], axis=-1)
    rests = [
        [error - slope * earlier for error, slope, earlier in zip(now, slopes, before, strict=True)]
        for (now, before), slopes in zip(by_basin, memory, strict=True)
    ]
    scale_of_all, scale = _scales([np.concatenate(rest) for rest in rests])
    fits = [_fitted_class([rest[k] / size for rest, size in zip(rests, scale, strict=True)]) for k in range(count)]
    centre_of_all, spread_of_all = (np.array([getattr(fit, part) for fit in fits]) for part in ("centre", "spread"))
    centres, spreads = (np.stack([getattr(fit, part) for fit in fits], axis=-1) for part in ("centres", "spreads"))
    return (
        _Numbers(memory_of_all, centre_of_all * scale_of_all, spread_of_all * scale_of_all),
        np.stack([fit.quantiles for fit in fits]),
        _Numbers(memory, centres * scale[:, None], spreads * scale[:, None]),
    )


def _scales(rests: Sequence[Array]) -> tuple[float, Array]:
    """Return the mean size of what memory does not explain: of all basins, and of each."""
    sums, days = np.array([np.abs(rest).sum() for rest in rests]), np.array([len(rest) for rest in rests])
    of_all = sums.sum() / days.sum()
    return float(of_all), (sums + PRIOR_DAYS * of_all) / (days + PRIOR_DAYS)


@dataclass(frozen=True, slots=True)
class _ClassFit:
    """Centre and spread of one class, of all basins and of each, and the quantiles of u."""

    centre: float
    spread: float
    centres: Array
    spreads: Array
    quantiles: Array


def _fitted_class(rests: Sequence[Array]) -> _ClassFit:
    """Fit one class of flow at one gap to what memory does not explain of each basin's errors."""
    together, days = np.concatenate(rests), np.array([len(rest) for rest in rests])
    if len(together) < LEAST_DAYS:
        raise DataProblem(
            f"A class of simulated flow has {len(together)} observed days over all basins, and {LEAST_DAYS} are "
            "needed: fit the error model to more years or more basins."
        )
    weight = np.where(days >= LEAST_DAYS, days / (days + PRIOR_DAYS), 0.0)
    centre = float(np.median(together))
    centres = weight * [np.median(rest) if len(rest) else 0.0 for rest in rests] + (1 - weight) * centre
    spread = float(np.abs(together - centre).mean())
    own = [np.abs(rest - middle).mean() if len(rest) else 0.0 for rest, middle in zip(rests, centres, strict=True)]
    spreads = np.maximum(weight * own + (1 - weight) * spread, NO_SPREAD)
    standard = [(rest - middle) / size for rest, middle, size in zip(rests, centres, spreads, strict=True)]
    return _ClassFit(centre, spread, centres, spreads, np.quantile(np.concatenate(standard), LEVELS))


def _memories(now: Sequence[Array], earlier: Sequence[Array]) -> tuple[float, Array]:
    """Return the slope of the errors on those before them, through zero: of all basins, and of each."""
    products = np.array([before @ error for error, before in zip(now, earlier, strict=True)])
    squares = np.array([before @ before for before in earlier])
    if not squares.sum():
        return 0.0, np.zeros(len(now))
    of_all = products.sum() / squares.sum()
    prior = PRIOR_DAYS * squares.sum() / sum(map(len, earlier))
    return float(of_all), (products + prior * of_all) / (squares + prior)


def _classes(simulated: Array) -> tuple[float, Array, npt.NDArray[np.int64]]:
    """Return the mean flow, the median flow of each class and each day's class."""
    bounds = np.quantile(simulated, FLOW_CLASSES[1:-1])
    classes = np.searchsorted(bounds, simulated, side="right")
    middle = (np.array(FLOW_CLASSES[:-1]) + FLOW_CLASSES[1:]) / 2
    return float(simulated.mean()), np.quantile(simulated, middle), classes


def _root(flow: Array, mean_flow: float) -> Array:
    return np.asarray((flow / mean_flow) ** POWER)


def _flow(root: Array, mean_flow: float) -> Array:
    return np.asarray(np.maximum(root, 0.0) ** (1 / POWER) * mean_flow)
