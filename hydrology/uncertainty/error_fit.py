"""Fits the error model (`hydrology.uncertainty.error_model`) to simulated and observed flow.

A basin's own estimate of a parameter is weighed against the regional estimate over all basins, by its number of days. A
basin with few observed days has the regional parameters alone; as these fit no basin as well as its own would, their
distribution is wider.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

import numpy as np

from hydrology.base.arrays import Array, Integers
from hydrology.base.errors import DataProblem
from hydrology.uncertainty.error_model import (
    FLOW_CLASSES,
    GAPS,
    LEVELS,
    NO_FLOW_KNOWN,
    BasinErrorModel,
    BasinErrors,
    Shape,
    classes_of,
    root,
)
from hydrology.uncertainty.error_paths import SCORES, persistence

PRIOR_DAYS = 100
"""Weight of the regional estimate, in days of a basin."""
NO_OWN_WEIGHT = 1e12
"""Weight of the regional estimate that leaves a basin's own days no influence."""
MIN_DAYS = 20
"""With fewer days, a basin's class uses the regional estimate, and a regional class uses another class."""
MIN_OWN_DAYS = 3 * 365
"""With fewer observed days a basin has the regional parameters alone."""
NO_SPREAD = 1e-9
"""Spread of a class in which every error is the same: a river that is always dry."""


@dataclass(frozen=True, slots=True)
class ErrorPairs:
    """Simulated and observed flow of a basin on the same days in mm/day, NaN where not observed."""

    simulated: Array
    observed: Array


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """An error model: regional parameters, and the errors of each basin that it was fitted to.

    `shape` is of basins with parameters of their own, `regional` of others; `days` are observed ones, over all basins.
    """

    shape: Shape
    regional: Shape
    basins: Mapping[str, BasinErrors]
    days: int

    def of_basin(self, name: str) -> BasinErrorModel:
        """Return the error model of one of the fitted basins."""
        return BasinErrorModel.of(self.shape, self.regional, self.basins[name])


def fit(pairs: Mapping[str, ErrorPairs]) -> Fit:
    """Fit the error model of basins to simulations of the same days, mm/day; DataProblem for too few observed days."""
    residuals = {name: _Residuals.of(basin) for name, basin in pairs.items()}
    return _with_persistence(fit_errors(residuals), residuals)


class Errors(Protocol):
    """The errors of a basin's forecasts; `mean_flow` and `class_flow` as in `BasinErrors`."""

    @property
    def mean_flow(self) -> float: ...
    @property
    def class_flow(self) -> Array: ...
    @property
    def observed_days(self) -> int:
        """Number of days with an error."""

    def before(self, gap: int | None) -> tuple[list[Array], list[Array]]:
        """Return errors by class of flow, and the errors a gap earlier; zeros without a gap."""


def fit_errors(errors: Mapping[str, Errors]) -> Fit:
    """Fit the error model to the errors of basins."""
    residuals = list(errors.values())
    shape, own = _shape(residuals, PRIOR_DAYS)
    regional, _ = _shape(residuals, NO_OWN_WEIGHT)
    basins = {
        name: BasinErrors(
            mean_flow=residual.mean_flow,
            class_flow=residual.class_flow,
            **{part: values[:, at] for part, values in own.items()},
            days=residual.observed_days,
        )
        if residual.observed_days >= MIN_OWN_DAYS
        else BasinErrors(residual.mean_flow, residual.class_flow, regional.memory, regional.centre, regional.spread, 0)
        for at, (name, residual) in enumerate(errors.items())
    }
    return Fit(shape, regional, basins, sum(residual.observed_days for residual in residuals))


@dataclass(frozen=True, slots=True)
class _Residuals:
    """The errors r of a basin's days, NaN where flow was not observed, and the class of each day."""

    mean_flow: float
    class_flow: Array
    classes: Integers
    errors: Array

    @classmethod
    def of(cls, pairs: ErrorPairs) -> Self:
        mean_flow, class_flow, classes = classes_of(pairs.simulated)
        errors = root(pairs.observed, mean_flow) - root(pairs.simulated, mean_flow)
        return cls(mean_flow, class_flow, classes, errors)

    @property
    def observed_days(self) -> int:
        return int(np.isfinite(self.errors).sum())

    def before(self, gap: int | None) -> tuple[list[Array], list[Array]]:
        earlier = np.zeros_like(self.errors)
        if gap is not None:
            earlier = np.concatenate([np.full(gap, np.nan), self.errors])[: len(self.errors)]
        return by_class(self.classes, self.errors, earlier)

    def scores(self, shape: Shape, basin: BasinErrors | Shape) -> Array:
        """Transform the errors to a standard normal distribution, (days,), without known flow before."""
        row, scores = NO_FLOW_KNOWN, np.full(len(self.errors), np.nan)
        for number, quantiles in enumerate(shape.quantiles[row]):
            days = self.classes == number
            standard = (self.errors[days] - basin.centre[row, number]) / basin.spread[row, number]
            scores[days] = np.interp(standard, quantiles, SCORES)
        return scores


def by_class(classes: Integers, errors: Array, earlier: Array) -> tuple[list[Array], list[Array]]:
    """Return errors and earlier errors, each (days,), by the days' class, where both are known."""
    known = np.isfinite(errors + earlier)
    chosen = [known & (classes == number) for number in range(len(FLOW_CLASSES) - 1)]
    return [errors[days] for days in chosen], [earlier[days] for days in chosen]


def _with_persistence(fitted: Fit, residuals: Mapping[str, _Residuals]) -> Fit:
    lasting = persistence([basin.scores(fitted.shape, fitted.basins[name]) for name, basin in residuals.items()])
    regional = persistence([basin.scores(fitted.regional, fitted.regional) for basin in residuals.values()])
    basins = {
        name: replace(basin, lasting_share=float(share), lasting_memory=lasting.memory)
        if basin.days
        else replace(basin, lasting_share=regional.share, lasting_memory=regional.memory)
        for (name, basin), share in zip(fitted.basins.items(), lasting.shares, strict=True)
    }
    return replace(
        fitted,
        shape=replace(fitted.shape, lasting_share=lasting.share, lasting_memory=lasting.memory),
        regional=replace(fitted.regional, lasting_share=regional.share, lasting_memory=regional.memory),
        basins=basins,
    )


_Numbers = dict[str, Array]
"""Memory, centre and spread by class, regional (classes,) or by basin (basins, classes)."""


def _shape(residuals: Sequence[Errors], prior_days: float) -> tuple[Shape, dict[str, Any]]:
    """Return the regional shape (it weighs `prior_days`), and parameters by name, (gaps + 1, basins, classes)."""
    at_gaps = [_fitted_at(residuals, gap, prior_days) for gap in (*GAPS, None)]
    shared, quantiles, own = zip(*at_gaps, strict=True)
    return Shape(**_stacked(shared), quantiles=np.stack(quantiles)), _stacked(own)


def _stacked(at_gaps: Sequence[_Numbers]) -> dict[str, Any]:
    return {part: np.stack([numbers[part] for numbers in at_gaps]) for part in at_gaps[0]}


def _fitted_at(residuals: Sequence[Errors], gap: int | None, prior_days: float) -> tuple[_Numbers, Array, _Numbers]:
    """Return regional parameters at a gap, the quantiles of u (classes, `LEVELS`), and each basin's parameters."""
    by_basin = _borrowed([basin.before(gap) for basin in residuals])
    count = len(FLOW_CLASSES) - 1
    memories = [
        _memories([now[k] for now, _ in by_basin], [before[k] for _, before in by_basin], prior_days)
        for k in range(count)
    ]
    memory_of_all = np.array([of_all for of_all, _ in memories])
    memory = np.stack([of_each for _, of_each in memories], axis=-1)
    rests = [
        [error - slope * earlier for error, slope, earlier in zip(now, slopes, before, strict=True)]
        for (now, before), slopes in zip(by_basin, memory, strict=True)
    ]
    scale_of_all, scale = _scales([np.concatenate(rest) for rest in rests], prior_days)
    fits = [
        _fitted_class([rest[k] / size for rest, size in zip(rests, scale, strict=True)], prior_days)
        for k in range(count)
    ]
    centre, spread, centres, spreads, quantiles = zip(*fits, strict=True)
    centre_of_all, spread_of_all = np.array(centre) * scale_of_all, np.array(spread) * scale_of_all
    own_centre, own_spread = (np.stack(of_basins, axis=-1) * scale[:, None] for of_basins in (centres, spreads))
    return (
        {"memory": memory_of_all, "centre": centre_of_all, "spread": spread_of_all},
        np.stack(quantiles),
        {"memory": memory, "centre": own_centre, "spread": own_spread},
    )


def _borrowed(by_basin: Sequence[tuple[list[Array], list[Array]]]) -> Sequence[tuple[list[Array], list[Array]]]:
    """Return errors by class; a class with too few days over all basins has those of the nearest with enough."""
    days = np.array([[len(errors) for errors in now] for now, _ in by_basin]).sum(axis=0)
    enough = np.flatnonzero(days >= MIN_DAYS)
    if not len(enough):
        raise DataProblem(
            f"No class of simulated flow has {MIN_DAYS} observed days over all basins, the fullest has {days.max()}: "
            "fit the error model to more years or more basins."
        )
    source = [int(enough[np.abs(enough - number).argmin()]) for number in range(len(days))]
    return [([now[number] for number in source], [before[number] for number in source]) for now, before in by_basin]


def _scales(rests: Sequence[Array], prior_days: float) -> tuple[float, Array]:
    """Return the mean size of the errors left after memory, regional and of each basin."""
    sums, days = np.array([np.abs(rest).sum() for rest in rests]), np.array([len(rest) for rest in rests])
    of_all = sums.sum() / days.sum()
    scales = (sums + prior_days * of_all) / (days + prior_days)
    return max(float(of_all), NO_SPREAD), np.maximum(scales, NO_SPREAD)


def _fitted_class(rests: Sequence[Array], prior_days: float) -> tuple[float, float, Array, Array, Array]:
    """Return centre and spread of one class at one gap, regional and of each basin, and the quantiles of u.

    They are fitted to each basin's errors left after memory.
    """
    together, days = np.concatenate(rests), np.array([len(rest) for rest in rests])
    weight = np.where(days >= MIN_DAYS, days / (days + prior_days), 0.0)
    centre = float(np.median(together))
    centres = weight * [np.median(rest) if len(rest) else 0.0 for rest in rests] + (1 - weight) * centre
    spread = max(float(np.abs(together - centre).mean()), NO_SPREAD)
    own = [np.abs(rest - middle).mean() if len(rest) else 0.0 for rest, middle in zip(rests, centres, strict=True)]
    spreads = np.maximum(weight * own + (1 - weight) * spread, NO_SPREAD)
    standard = [(rest - middle) / size for rest, middle, size in zip(rests, centres, spreads, strict=True)]
    return centre, spread, centres, spreads, np.quantile(np.concatenate(standard), LEVELS)


def _memories(now: Sequence[Array], earlier: Sequence[Array], prior_days: float) -> tuple[float, Array]:
    """Return the slope of the errors on earlier ones, through zero, regional and of each basin."""
    products = np.array([before @ error for error, before in zip(now, earlier, strict=True)])
    squares = np.array([before @ before for before in earlier])
    if not squares.sum():
        return 0.0, np.zeros(len(now))
    of_all = products.sum() / squares.sum()
    prior = prior_days * squares.sum() / sum(map(len, earlier))
    return float(of_all), (products + prior * of_all) / (squares + prior)
