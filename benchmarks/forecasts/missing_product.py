"""Scores versions that take different weather products together, each product alone, and one missing by turns.

The versions that `--only` names are stored in FRESHET_DATA. The first half of the validation period that they share is
for learning their weights, the second for the scores: NSE over the basins that all cover. `by basin`: with the weights
that a basin has of its own, if those pay in years left out of the first half. `by turns`: on every day each
product is missing with a chance of a half, all but one at most, at random.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.product_mixes import ALL, OWN, TURNS, mixes_of_basins
from extensions.weights.learning import LearntWeights, learn_weights
from hydrology.base.calendar import Period
from hydrology.scores.scores import nse
from records.basins import basins
from records.database.engine import Database
from records.versions import versions
from runtime.settings import Settings
from testing.work import work_of


def measure(only: str) -> dict[str, Any]:
    """Return the learnt weights, the quartiles of NSE, and the share of basins where `by turns` is as good.

    Args:
        only: the ids of the versions, with commas between them.
    """
    ids = only.split(",")
    database = Database(Settings.load().database_url)
    with database.reading() as session:
        stored = [versions.get(session, version) for version in ids]
        names = basins.known(session, sorted(set.intersection(*(set(one.basins) for one in stored))))
    shared = stored[0].validation_period
    for one in stored[1:]:
        assert shared is not None
        assert one.validation_period is not None
        shared = shared.overlap(one.validation_period)
    assert shared is not None
    middle = shared.first + len(shared) // 2
    learnt = learn_weights(work_of(database), ids, Period(shared.first, middle - 1), names)
    values = _scores(database, learnt, Period(middle, shared.last), names)
    shown = {name: np.percentile(of_name, [25, 50, 75]).round(4).tolist() for name, of_name in values.items()}
    alone = [name for name in values if name not in (ALL, OWN, TURNS)]
    worse = {name: float(np.mean(np.array(values[TURNS]) >= np.array(values[name]))) for name in alone}
    return {
        "weights": learnt.common,
        "nse_of_years_left_out": learnt.nse,
        "days": str(Period(middle, shared.last)),
        "basins": len(values[ALL]),
        "nse_quartiles": shown,
        "share_where_by_basin_is_better": float(np.mean(np.array(values[OWN]) > np.array(values[ALL]))),
        "share_where_by_turns_is_at_least": worse,
    }


def _scores(database: Database, learnt: LearntWeights, days: Period, names: Sequence[str]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for mixed in mixes_of_basins(database, learnt, days, names):
        for name, flow in mixed.flows.items():
            value = nse(flow, mixed.observed).value
            if value is not None:
                found.setdefault(name, []).append(value)
    return found
