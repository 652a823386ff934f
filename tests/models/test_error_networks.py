"""What the error network learns holds on days that it was not trained on, and too few days train none."""

import numpy as np
import pytest

from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.error_fit import MIN_OWN_DAYS, ErrorPairs, Fit, fit
from hydrology.uncertainty.error_model import LEVELS, errors_of
from hydrology.uncertainty.error_network import DaysAhead
from models.error_networks import MIN_DAYS, with_networks

BASINS, DAYS, JUDGED = 12, 3200, 600


FIRST, SECOND = 1.2, -0.5
"""Memory of one day and of two: the tables know the first alone."""


def swinging(seed: int) -> ErrorPairs:
    """Return a basin whose errors (of cube roots) are an autoregression of the second order."""
    chance = np.random.default_rng(seed)
    simulated = chance.gamma(2.0, 1.0, DAYS + JUDGED) + 1.0
    error = chance.normal(0.0, 0.05, len(simulated))
    for day in range(2, len(error)):
        error[day] += FIRST * error[day - 1] + SECOND * error[day - 2]
    root = np.cbrt(simulated / simulated.mean()) + error
    return ErrorPairs(simulated, np.maximum(root, 0.0) ** 3 * simulated.mean())


def scores(model: Fit, pairs: dict[str, ErrorPairs]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the mean CRPS of one day ahead in each basin, over the days after those of the fit."""
    found = []
    for name, basin in pairs.items():
        of_basin = model.of_basin(name)
        errors = errors_of(of_basin.errors, basin.simulated, basin.observed)
        last = np.arange(DAYS, DAYS + JUDGED - 1)
        quantiles = of_basin.quantiles(DaysAhead.of(basin.simulated, errors, last, last + 1))
        found.append(crps(quantiles, LEVELS, basin.observed[last + 1]).mean())
    return np.array(found)


def until(pairs: dict[str, ErrorPairs], days: int) -> dict[str, ErrorPairs]:
    return {name: ErrorPairs(basin.simulated[:days], basin.observed[:days]) for name, basin in pairs.items()}


@pytest.mark.extended
def test_what_the_tables_cannot_know_is_learnt_from_the_last_days() -> None:
    pairs = {f"basin {seed}": swinging(seed) for seed in range(BASINS)}
    tables = fit(until(pairs, DAYS))
    assert tables.days >= MIN_DAYS
    learnt = with_networks(tables, until(pairs, DAYS), steps=500)
    assert learnt.shape.network is not None
    assert learnt.regional.network is not None
    reached = float(np.mean(scores(learnt, pairs) / scores(tables, pairs)))
    assert reached == pytest.approx(np.sqrt(1 - SECOND**2), abs=0.03)  # of the innovations of both orders


@pytest.mark.extended
@pytest.mark.parametrize("days", [2 * MIN_OWN_DAYS - 2, 2 * MIN_OWN_DAYS])
def test_only_basins_with_own_parameters_in_half_their_days_teach_the_network_for_those(days: int) -> None:
    pairs = until({f"basin {seed}": swinging(seed) for seed in range(16)}, days)
    learnt = with_networks(fit(pairs), pairs, steps=20)
    assert learnt.regional.network is not None
    assert (learnt.shape.network is not None) == (days >= 2 * MIN_OWN_DAYS)
    assert all(basin.days for basin in learnt.basins.values())


def test_too_few_days_train_no_network() -> None:
    pairs = {f"basin {seed}": swinging(seed) for seed in range(2)}
    tables = fit(until(pairs, DAYS))
    assert with_networks(tables, until(pairs, DAYS)) is tables


def test_a_record_of_one_half_of_the_days_trains_no_network() -> None:
    pairs = {f"basin {seed}": swinging(seed) for seed in range(2 * BASINS)}
    for basin in pairs.values():
        basin.observed[: DAYS // 2] = np.nan
    tables = fit(until(pairs, DAYS))
    assert tables.days >= MIN_DAYS
    assert with_networks(tables, until(pairs, DAYS)) is tables
