"""The flow of a combination of versions in each basin, with all of its weather products and with some missing."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import product as combinations_of
from typing import NamedTuple

import numpy as np

from extensions.weights.learning import LearntWeights
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.products import JOINT, subsets
from models.nets.layers import BLOCK
from operations.verification.past_simulation import PastDays
from operations.versions.load_networks import load_version
from records.database.engine import Database

ALL, OWN, TURNS = "all", "all by basin", "by turns"


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
            for basin in PastDays(database, days, areas).simulated(one, names[first : first + BLOCK]):
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
