"""Draws of the calibrated flow of a simulation, and the scores of their flow duration curves.

The mean of an ensemble is flatter than any river: its floods are too low and its low flows too high, whatever its
skill. A draw is a river that the distribution holds to be possible, so its curve can be held against the observed one.
"""

from statistics import fmean

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array
from hydrology.base.calendar import Days
from hydrology.scores.score_types import Score
from hydrology.scores.scores import OF_CURVES
from hydrology.uncertainty.error_model import LEVELS, BasinErrorModel, between_levels
from hydrology.uncertainty.error_network import DaysAhead

DRAWS = 20
SEED = 1


def draw(error_model: BasinErrorModel, simulated: Array) -> Array:
    """Draw the flow of each day without any flow known, (draws, days) in mm/day, from simulated flow (days,).

    Each day is drawn by itself, once in each of as many equal shares of its distribution: a duration curve does not
    depend on the order of days.
    """
    unknown = np.full(len(simulated), np.nan)
    quantiles = error_model.quantiles(DaysAhead.after(simulated, unknown, unknown))
    chance, size = np.random.default_rng(SEED), (DRAWS, len(simulated))
    order = chance.permuted(np.broadcast_to(np.arange(DRAWS)[:, None], size), axis=0)
    upper, across = between_levels((order + chance.random(size)) / DRAWS, LEVELS)
    days = np.arange(len(simulated))
    return np.asarray(quantiles[days, upper - 1] * (1 - across) + quantiles[days, upper] * across)


def scores_of_draws(
    error_model: BasinErrorModel, simulated: Array, observed: npt.ArrayLike, days: Days
) -> dict[str, Score]:
    """Compute the mean over draws of each score in `OF_CURVES`, from simulated and observed flow, (days,) in mm/day."""
    drawn = np.full((DRAWS, len(simulated)), np.nan)
    known = np.isfinite(simulated)
    drawn[:, known] = draw(error_model, simulated[known])
    return {score.__name__: _mean([score(one, observed, days=days) for one in drawn]) for score in OF_CURVES}


def _mean(scores: list[Score]) -> Score:
    values = [one.value for one in scores if one.value is not None]
    without = [one for one in scores if one.value is None]
    return without[0] if without else Score(fmean(values), scores[0].n)
