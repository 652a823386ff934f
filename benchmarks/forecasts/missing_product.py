"""Scores versions that take different weather products together, each product alone, and one missing by turns.

The versions that `--only` names are stored in FRESHET_DATA. The first half of the validation period that they share is
for learning their weights, the second for the scores: NSE over the basins that all cover. `by basin`: with the weights
that a basin has of its own, if those pay in years left out of the first half. `by turns`: on every day each
product is missing with a chance of a half, all but one at most, at random.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product as combinations_of
from typing import Any, NamedTuple

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.products import JOINT, subsets
from hydrology.scores.scores import nse
from models.nets.products import BLOCK
from operations.verification.error_pairs import simulated
from operations.verification.learn_weights import LearntWeights, learn_weights
from operations.versions.load_networks import load_version
from records.basins import basins
from records.database.engine import Database
from records.versions import versions
from runtime.settings import Settings

ALL, OWN, TURNS = "all", "all by basin", "by turns"


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
    learnt = learn_weights(database, ids, Period(shared.first, middle - 1), names)
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


class MixesOfBasin(NamedTuple):
    """What a combination of versions makes of a basin: discharge (days,) in mm/day.

    Attributes:
        observed: NaN where missing.
        flows: with all products and common weights (`ALL`) or the basin's own (`OWN`), and, with common ones, with each
            set of products and with some missing by turns (`TURNS`).
    """

    basin: str
    observed: Array
    flows: Mapping[str, Array]


def mixes_of_basins(
    database: Database, learnt: LearntWeights, days: Period, names: Sequence[str]
) -> Iterator[MixesOfBasin]:
    """Yield the mixes of each basin that all versions cover."""
    with database.reading() as session:
        loaded = {version: load_version(session, version) for version in learnt.common}
    products = {version: one.version.product for version, one in loaded.items()}
    areas = list(dict.fromkeys(products.values()))
    for first in range(0, len(names), BLOCK):
        flows: dict[str, dict[str, Array]] = {}
        observed: dict[str, Array] = {}
        for version, one in loaded.items():
            for basin in simulated(database, one, days, names[first : first + BLOCK], {}, areas):
                flows.setdefault(basin.id, {})[version] = basin.members.mean(axis=0, dtype=np.float64)
                observed.setdefault(basin.id, basin.observed)
        for at, (basin_id, of_basin) in enumerate(flows.items()):
            if len(of_basin) == len(learnt.common):
                mixes = _mixes(of_basin, learnt, basin_id, products, seed=first + at)
                yield MixesOfBasin(basin_id, observed[basin_id], mixes)


def _mixes(
    flows: Mapping[str, Array], learnt: LearntWeights, basin: str, products: Mapping[str, str], seed: int
) -> dict[str, Array]:
    """Return the flow with all products, with each set of them, and with some missing by turns."""
    every = tuple(dict.fromkeys(products.values()))

    def mean(there: tuple[str, ...], weights: Mapping[str, float] = learnt.common) -> Array:
        used = [version for version in flows if products[version] in there]
        shares = np.array([weights[version] for version in used])
        return np.asarray(np.einsum("v,vd->d", shares / shares.sum(), np.stack([flows[version] for version in used])))

    own = mean(every, learnt.by_basin.get(basin, learnt.common))
    mixes = {ALL: mean(every), OWN: own} | {JOINT.join(there): mean(there) for there in subsets(every)}
    possible = [names for names in combinations_of(*((name, None) for name in every)) if any(names)]
    by_set = np.stack([mean(tuple(name for name in names if name)) for names in possible])
    chosen = np.random.default_rng(seed).integers(len(possible), size=by_set.shape[1])
    return mixes | {TURNS: by_set[chosen, np.arange(by_set.shape[1])]}
