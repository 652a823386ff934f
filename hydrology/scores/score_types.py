"""The common parts of all scores: result type, signature, removal of missing values."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Protocol

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, Parameter, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Days
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason


@dataclass(frozen=True, slots=True)
class Score:
    """A score, or why it is undefined, with the number of days (for the peak scores: of observed peaks)."""

    value: float | None
    n: int
    reason: Absent | None = None


class Undefined(Exception):  # noqa: N818 - not a fault: the reason a score has no value
    """Raised by a formula with the reason why its score is undefined; `n` is by default that of all pairs."""

    def __init__(self, reason: Reason, n: int | None = None, **parameters: Parameter) -> None:
        super().__init__(reason.name)
        self.reason, self.n = absent(reason, **parameters), n


@dataclass(frozen=True, slots=True)
class ScoredPairs:
    """Days on which both sides are known, in order. Each array has shape (pairs,)."""

    simulated: Array
    observed: Array
    days: Days

    def __len__(self) -> int:
        return len(self.observed)


class ScoreFunction(Protocol):
    """The signature of every score.

    `simulated` and `observed` have shape (days,), in one unit (mm/day), NaN where missing. `days` gives the day of each
    value; without it the values are those of consecutive days.
    """

    __name__: str

    def __call__(self, simulated: npt.ArrayLike, observed: npt.ArrayLike, *, days: Days | None = None) -> Score: ...


def pair(simulated: npt.ArrayLike, observed: npt.ArrayLike, *, days: Days | None = None) -> ScoredPairs:
    """Select the days on which both sides are known."""
    s, o = np.asarray(simulated, dtype=np.float64), np.asarray(observed, dtype=np.float64)
    if days is None:
        days = np.datetime64("1970-01-01", "D") + np.arange(o.size)
    if s.ndim != 1 or not s.shape == o.shape == days.shape:
        raise InvalidInput(
            "Simulation, observation and days must be one-dimensional and of one length; their shapes are "
            f"{s.shape}, {o.shape} and {days.shape}."
        )
    if not (np.diff(days) > np.timedelta64(0, "D")).all():
        raise InvalidInput("The days of a score must increase, each named once: sort them first.")
    known = ~(np.isnan(s) | np.isnan(o))
    return ScoredPairs(s[known], o[known], days[known])


def score(*, minimum: int) -> Callable[[Callable[[ScoredPairs], Score]], ScoreFunction]:
    """Wrap a formula over pairs as a score. Drops missing values, requires `minimum` pairs, never returns NaN."""

    def decorate(formula: Callable[[ScoredPairs], Score]) -> ScoreFunction:
        @wraps(formula)
        def scored(simulated: npt.ArrayLike, observed: npt.ArrayLike, *, days: Days | None = None) -> Score:
            pairs = pair(simulated, observed, days=days)
            if len(pairs) < minimum:
                return Score(None, len(pairs), absent(Reason.TOO_FEW_PAIRS, minimum=minimum, pairs=len(pairs)))
            try:
                for name, values in (("simulation", pairs.simulated), ("observation", pairs.observed)):
                    if infinite := int(np.isinf(values).sum()):
                        raise Undefined(Reason.INFINITE_VALUES, series=name, days=infinite)
                with np.errstate(all="ignore"):
                    result = formula(pairs)
            except Undefined as undefined:
                return Score(None, len(pairs) if undefined.n is None else undefined.n, undefined.reason)
            if result.value is not None and not math.isfinite(result.value):
                return Score(None, result.n, absent(Reason.OUT_OF_RANGE))
            return result

        return scored

    return decorate
