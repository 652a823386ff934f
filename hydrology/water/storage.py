"""The water stored in a basin: recession without precipitation, age, spin-up, and assimilation of observed flow.

Assimilation finds the smallest change of a basin's water that explains the flow of the last days. Given its gates, a
network that conserves mass moves water linearly: a day's outflow is a sum over the places of the water when those days
began (each cell) and the days on which it fell since (each day). Each of these sources may have held more or less than
computed, by a factor. Of the factors that explain the observed flow, those nearest to 1 are taken, weighed against the
error of observations: a least-squares estimate with the sources' factors as its prior (as in the analysis of a Kalman
filter).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array
from hydrology.base.calendar import Day, Days
from hydrology.base.errors import InvalidInput, counted
from hydrology.uncertainty.weighted import reached_by_shares

MILESTONES = (10, 30, 90, 180)
"""Days after T0 at which the recession is reported, besides the last day."""


@dataclass(frozen=True, slots=True)
class Drained:
    """Water held at T0 and its fate by the end of each day: M members, D days, all in mm.

    `runs_off` and `lost` since T0, and `left` in store, are (M, D); `held` is (M,).
    """

    runs_off: Array
    lost: Array
    left: Array
    held: Array

    @classmethod
    def of(cls, discharge: npt.ArrayLike, loss: npt.ArrayLike, storage: npt.ArrayLike, held: npt.ArrayLike) -> Self:
        """Compute it from discharge and loss (M, D), mm/day, storage after each day (M, D) and at T0 (M,), mm."""
        flow, loss, left, held = (np.asarray(values, np.float64) for values in (discharge, loss, storage, held))
        return cls(flow.cumsum(axis=1), loss.cumsum(axis=1), left, held)


def milestones(days: int) -> list[int]:
    """Return the milestones within a number of days, and the last day."""
    return [*(day for day in MILESTONES if day < days), days]


def first_days_below(flow: npt.ArrayLike, level: float) -> Array:
    """Return each member's first day after T0 with flow (M, D) below a level, (M,); infinity where there is none."""
    below = np.asarray(flow) < level
    return np.where(below.any(axis=1), below.argmax(axis=1) + 1.0, np.inf)


def reached_by(days: Array, share: float, weights: Array | None = None) -> int | None:
    """Return the day by which a share of members reached an event (M,), infinity for never; None where too few do."""
    (day,) = reached_by_shares(days, [share], weights)
    return int(day) if math.isfinite(day) else None


OLDER, YET_TO_FALL = "older", "yet_to_fall"
SEASONS = ("DJF", "MAM", "JJA", "SON")
MONTHS = 3
REPORTED_SEASONS = 5
"""The season of T0, which may have just started, and the four before it: a year and up to three months."""
MIN_DAYS = 365
"""Minimum days from the empty store to T0: with a shorter past no water could be older than a year."""


@dataclass(frozen=True, slots=True)
class Ages:
    """The ages of water at T0, oldest first: older than the reported seasons, each of these, and water that falls after
    T0."""

    t0: Day

    @property
    def names(self) -> tuple[str, ...]:
        """`older`, five seasons such as `2008-DJF` (named by the year in which they end), `yet_to_fall`."""
        return OLDER, *(_name(number) for number in range(self._first, self._first + REPORTED_SEASONS)), YET_TO_FALL

    @property
    def begin(self) -> Day:
        """The first day of the first season."""
        return _first_day(self._first)

    @property
    def ends(self) -> tuple[tuple[Day | None, Day | None], ...]:
        """The first and the last day on which the water of each age fell; None where there is no such day."""
        firsts = [_first_day(number) for number in range(self._first, self._first + REPORTED_SEASONS)]
        lasts = [*(first - 1 for first in firsts[1:]), self.t0]
        return (None, self.begin - 1), *zip(firsts, lasts, strict=True), (self.t0 + 1, None)

    def of(self, days: Days) -> npt.NDArray[np.int64]:
        """Return the index of the age of water that falls on each day."""
        places = np.maximum(_number(days) - self._first + 1, 0)
        return np.where(days > self.t0, REPORTED_SEASONS + 1, places)

    @property
    def _first(self) -> int:
        return int(_number(np.array([self.t0]))[0]) - REPORTED_SEASONS + 1


def _number(days: Days) -> npt.NDArray[np.int64]:
    """Return the number of each day's season, counted from DJF 1970."""
    return (days.astype("datetime64[M]").astype(np.int64) + 1) // MONTHS


def _first_day(number: int) -> Day:
    first: Day = (np.datetime64("1970-01", "M") + MONTHS * number - 1).astype("datetime64[D]")
    return first


def _name(number: int) -> str:
    return f"{1970 + number // len(SEASONS)}-{SEASONS[number % len(SEASONS)]}"


SPIN_UP_DAYS = 365
"""A state up to this many days after the empty store is still spinning up."""

_SHARES = ((61, 0.25), (122, 0.57), (183, 0.78), (244, 0.94))
"""Flow during spin-up as a share of that of a full store, until a day: measured on 447 basins."""


def is_spinning_up(days: int) -> bool:
    """Return whether a state this many days after the empty store is too young for the latest forecast."""
    return days <= SPIN_UP_DAYS


def spin_up_note(days: int) -> str | None:
    """Return a caution for forecasts from a state this many days after the empty store, or None."""
    if not is_spinning_up(days):
        return None
    shares = ", ".join(f"{share:.2f} until day {last}" for last, share in _SHARES)
    return (
        f"The model started from an empty store {counted(days, 'day')} before the end of T0, and holds "
        "too little water: over 447 "
        f"basins, its flow was this share of that of a model with a full store: {shares}. No forecast of the first "
        f"{SPIN_UP_DAYS} days becomes the latest."
    )


Cells = npt.NDArray[np.float32]


def incremented(cells: Cells, chosen: Sequence[int], amount: float) -> Cells:
    """Add mm of water (negative to take it) to cells (K,) by their content; InvalidInput where they hold too little."""
    held = float(cells[list(chosen)].sum(dtype=np.float64))
    if held <= 0:
        raise InvalidInput("hold no water, so the amount cannot be divided among them")
    if held + amount < 0:
        raise InvalidInput(f"hold {held:.4g} mm, less than the {-amount:.4g} mm that are to be taken away")
    changed = cells.copy()
    changed[list(chosen)] = cells[list(chosen)] * np.float64(1 + amount / held)
    return changed


OBSERVATION_ERROR = 3.0
"""Relative error of a flow, where the prior error of a cell's water is 1: so large that a single day moves little, and
all days together move much."""
MIN_FLOW_SHARE = 0.05
"""Share of a basin's mean flow that is added to a flow before its error is computed."""
RAIN_ERROR = 0.3
"""Relative error of a day's rain, where the prior error of a cell's water is 1."""
LOWEST, HIGHEST = -0.9, 3.0
"""Bounds of a factor, less 1: no source is emptied, and none is more than quadrupled."""


def smallest_factors(responses: Array, misfit: Array, observed: Array, mean_flow: float, cells: int) -> Array:
    """Return the relative change of each source, (samples, sources), from flows in mm/day.

    Args:
        responses: discharge of each day by its source, (samples, days, sources); the first `cells` sources are cells,
            the others days of rain.
        misfit: observed less computed discharge, (samples, days), NaN where nothing was observed.
    """
    prior = np.ones(responses.shape[-1])
    prior[cells:] = RAIN_ERROR
    known = np.isfinite(misfit)
    response = np.where(known[..., None], responses, 0.0)
    error = OBSERVATION_ERROR * (observed + MIN_FLOW_SHARE * mean_flow)
    variance = np.where(known, error, 1.0) ** 2
    covariance = np.einsum("ndg,g,neg->nde", response, prior**2, response)
    covariance += np.eye(responses.shape[1]) * variance[:, :, None]
    weights = np.linalg.solve(covariance, np.where(known, misfit, 0.0)[..., None])[..., 0]
    factors: Array = np.einsum("g,ndg,nd->ng", prior**2, response, weights)
    return np.clip(factors, LOWEST, HIGHEST)
