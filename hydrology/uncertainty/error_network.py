"""The error network: what the last days show of the errors to come.

The error model's tables depend on the last error, the gap and the simulated flow. The network, one for all basins,
takes the errors of the last five days besides, and how simulated flow rises and falls, and moves what the tables have
of a day:

    e(d) = (memory + dm) r + centre + dc spread + spread u exp(dw + ds),    exp(dw - ds) where u is below 0

It applies to days whose last flow is known, at most a month ago. `models.error_networks` trains it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Integers, Mask

Weights = npt.NDArray[np.float32]

PAST = 5
"""Days until the last observed flow whose errors count."""
MOVES = 4
"""dm, dc, dw and ds."""
MAX_ERROR = 20.0
"""Greatest error of a past day that counts as it is, in spreads."""
MAX_FEATURE = 6.0
"""Greatest standardised feature: beyond what was learnt from, nothing is extrapolated."""


@dataclass(frozen=True, slots=True, eq=False)
class DaysAhead:
    """Days to forecast, (days,) each: simulated flow of the day and of the one before in mm/day, and the gap.

    Of the day with the last observed flow and the days before it, newest first: `last_simulated` (days, 2) in mm/day,
    and `last_errors` (days, `PAST`), NaN where unknown.
    """

    simulated: Array
    before: Array
    gap: Array
    last_simulated: Array
    last_errors: Array

    @classmethod
    def of(cls, simulated: Array, errors: Array, last: Integers, at: Integers) -> Self:
        """Take days from series of consecutive ones, by the places of each and of the last observed flow, (days,).

        A day that is not after the last observed flow has a gap of 1.
        """
        back = last[:, None] - np.arange(PAST)
        known = np.where(back >= 0, errors[np.maximum(back, 0)], np.nan)
        of_last = np.where(back[:, :2] >= 0, simulated[np.maximum(back[:, :2], 0)], np.nan)
        return cls(simulated[at], simulated[at - 1], np.maximum(at - last, 1).astype(float), of_last, known)

    @classmethod
    def after(cls, simulated: Array, gap: Array, last_error: Array) -> Self:
        """Return days of which nothing but the last error is known, each with the flow of the day before."""
        past = np.column_stack([last_error, np.full((len(gap), PAST - 1), np.nan)])
        return cls(simulated, simulated, gap, np.column_stack([simulated, simulated]), past)

    def at(self, rows: Mask) -> Self:
        """Return some of the days."""
        return type(self)(**{part.name: getattr(self, part.name)[rows] for part in fields(self)})

    def steady(self, simulated: Array, gap: Array) -> Self:
        """Return days of other flows, (days,), each like the day before, after the last days of the first of these."""
        last = (np.repeat(part[:1], len(gap), axis=0) for part in (self.last_simulated, self.last_errors))
        return type(self)(simulated, simulated, gap, *last)


@dataclass(frozen=True, slots=True, eq=False)
class Tabled:
    """What the tables of the error model have of some days, (days,) each."""

    memory: Array
    centre: Array
    spread: Array


def features(ahead: DaysAhead, tabled: Tabled, roots: DaysAhead, lasting_share: float) -> Weights:
    """Return what the network takes, (days, features); `roots` has the cube roots of relative flow."""
    last, earlier = roots.last_simulated.T
    before = np.where(np.isfinite(roots.before), roots.before, last)  # a day that the network skips has no flow
    changes = (
        roots.simulated - last,
        roots.simulated - before,
        last - np.where(np.isfinite(earlier), earlier, last),
        tabled.centre,
    )
    past = np.clip(np.nan_to_num(ahead.last_errors) / tabled.spread[:, None], -MAX_ERROR, MAX_ERROR)
    others = (
        tabled.memory,
        np.log(tabled.spread),
        np.log(ahead.gap),
        1 / ahead.gap,
        np.full(len(ahead.gap), lasting_share),
        roots.simulated,
        last,
    )
    whole = np.column_stack([past, np.column_stack(changes) / tabled.spread[:, None], *others])
    return np.asarray(np.sign(whole) * np.log1p(np.abs(whole)), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class ErrorNetwork:
    """A perceptron with two hidden layers and SiLU; matrices are (inputs, outputs).

    `quantiles` are of u, by gap, class of simulated flow and level, as those of the tables are.
    """

    quantiles: Weights
    mean: Weights
    scale: Weights
    first: Weights
    first_bias: Weights
    second: Weights
    second_bias: Weights
    last: Weights
    last_bias: Weights

    def arrays(self) -> dict[str, Weights]:
        """Return the weights by name, as stored."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Self:
        """Create it from the result of `arrays`; KeyError, or ValueError where matrices do not follow one another."""
        network = cls(**{part.name: np.asarray(arrays[part.name], np.float32) for part in fields(cls)})
        inputs, hidden = network.first.shape
        shapes = (
            (inputs,),
            (inputs,),
            (inputs, hidden),
            (hidden,),
            (hidden, hidden),
            (hidden,),
            (hidden, MOVES),
            (MOVES,),
        )
        if shapes != tuple(values.shape for name, values in network.arrays().items() if name != "quantiles"):
            raise ValueError("the matrices of the error network do not follow one another")
        return network

    def moves(self, taken: Weights) -> Array:
        """Return `MOVES` of days, (days, 4), from their features."""
        standard = np.clip((taken - self.mean) / self.scale, -MAX_FEATURE, MAX_FEATURE)
        hidden = _silu(_silu(standard @ self.first + self.first_bias) @ self.second + self.second_bias)
        return np.asarray(hidden @ self.last + self.last_bias, np.float64)


def moved(moves: Array, tabled: Tabled, last_error: Array) -> tuple[Array, Array, Array]:
    """Return centre, and spread above and below it, of the errors of days, (days,) each, after the last error."""
    memory, centre, width, skew = moves.T
    middle = (tabled.memory + memory) * last_error + tabled.centre + centre * tabled.spread
    return middle, tabled.spread * np.exp(width + skew), tabled.spread * np.exp(width - skew)


def _silu(values: Weights) -> Weights:
    return np.asarray(values / (1 + np.exp(-values)))
