"""Learns the weights of versions that are to be combined, on days that decide nothing else."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from hydrology.base.absent import Absent, first_texts
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period
from hydrology.base.errors import DataProblem, InvalidInput
from models.nets.products import BLOCK
from operations.verification.error_pairs import simulated
from operations.versions.load_networks import LoadedVersion, load_version
from operations.versions.stages import stage
from records.basins import basins as basin_records
from records.database.engine import Database
from records.versions import versions

STEPS = 20
"""Weights are multiples of one divided by this number."""
MAX_PARTS = 4
"""The number of possible weights grows fast with that of the parts."""


def learn_weights(
    database: Database, version_ids: Sequence[str], period: Period | None, basins: Sequence[str]
) -> dict[str, float]:
    """Return the weight of each version whose mean has the largest median NSE over basins; a weight of 0 is left out.

    Versions with a twin are represented by it.

    Args:
        period: by default the days that all versions share as their validation period.
        basins: by default those that all versions learnt from and that are stored.

    Raises:
        UnknownVersion: one is not stored.
        InvalidInput: they share no validation period, or the period overlaps days that one was fitted to.
        DataProblem: no basin has the forcing of all versions and observed flow.
    """
    if not 2 <= len(version_ids) <= MAX_PARTS:
        raise InvalidInput(f"Weights are learnt of two to {MAX_PARTS} versions, not {len(version_ids)}: give them.")
    with database.reading() as session:
        stored = [versions.get(session, version) for version in version_ids]
        loaded = [load_version(session, version.twin_id or version.id) for version in stored]
        common = set.intersection(*(set(one.version.basins) for one in loaded))
        names = basins or basin_records.known(session, sorted(common))
    days = _days(loaded, period)
    products = list(dict.fromkeys(name for one in loaded for name in one.version.area_products))
    left_out: dict[str, Absent] = {}
    errors: list[Array] = []
    blocks = [names[first : first + BLOCK] for first in range(0, len(names), BLOCK)]
    for block in stage("groups of basins simulated", blocks):
        errors += _errors(database, loaded, days, block, products, left_out)
    if not errors:
        raise DataProblem(f"No basin has the weather of all versions and flow over {days}. {first_texts(left_out)}")
    grams = np.stack(errors)
    candidates = np.array(list(_simplex(len(loaded)))) / STEPS
    medians = [np.median(1 - np.einsum("i,nij,j->n", weights, grams, weights)) for weights in candidates]
    best = candidates[int(np.argmax(medians))]
    return {version: float(weight) for version, weight in zip(version_ids, best, strict=True) if weight > 0}


def _days(loaded: Sequence[LoadedVersion], period: Period | None) -> Period:
    days = period
    for one in loaded if period is None else ():
        own = one.version.validation_period
        days = own if days is None else days.overlap(own) if own is not None else None
        if days is None:
            raise InvalidInput("The versions share no validation period: give the days to learn on (--period).")
    assert days is not None
    for one in loaded:
        for fitted in one.version.fitted_periods:
            if days.overlap(fitted) is not None:
                raise InvalidInput(
                    f"{days} overlaps {fitted}, which version {one.version.id} was fitted to: choose other days."
                )
    return days


def _errors(
    database: Database,
    loaded: Sequence[LoadedVersion],
    days: Period,
    names: Sequence[str],
    products: Sequence[str],
    left_out: dict[str, Absent],
) -> Iterator[Array]:
    """Yield for each basin the products of the versions' errors, over the variance of the observed flow.

    (versions, versions): the NSE of a weighted mean is 1 less the quadratic form of its weights.
    """
    of_versions = [
        {basin.id: basin for basin in simulated(database, one, days, names, left_out, products)} for one in loaded
    ]
    for name, first in of_versions[0].items():
        found = [of_version[name] for of_version in of_versions if name in of_version]
        known = np.isfinite(first.observed)
        observed = first.observed[known]
        spread = float(((observed - observed.mean()) ** 2).sum()) if known.any() else 0.0
        if len(found) == len(loaded) and spread > 0:
            errors = np.stack([one.members.mean(axis=0, dtype=np.float64)[known] - observed for one in found])
            yield errors @ errors.T / spread


def _simplex(parts: int) -> Iterator[list[int]]:
    """Yield every way to divide STEPS among parts."""
    for bars in combinations(range(STEPS + parts - 1), parts - 1):
        edges = [-1, *bars, STEPS + parts - 1]
        yield [edges[at + 1] - edges[at] - 1 for at in range(parts)]
