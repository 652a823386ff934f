"""Learns the weights of versions that are to be combined, on days that decide nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from hydrology.base.absent import first_texts
from hydrology.base.arrays import Array
from hydrology.base.calendar import Period, water_year
from hydrology.base.errors import DataProblem, InvalidInput
from operations.verification.past_simulation import PastDays, in_blocks
from operations.versions.load_networks import LoadedVersion, load_version
from records.basins import basins as basin_records
from records.database.work import Work
from records.versions import versions

STEPS = 20
"""Weights are multiples of one divided by this number."""
MAX_PARTS = 5
"""The number of possible weights grows fast with that of the parts."""
PULL = 0.5
"""Of the common weights on a basin's own, in years of errors as large as the flow's variance."""
MIN_YEARS = 4
"""Of water years, for weights by basin."""


@dataclass(frozen=True, slots=True)
class LearntWeights:
    """The weights of versions to combine.

    Attributes:
        common: by version; one with a weight of 0 is left out.
        by_basin: of each basin, by version, where weights by basin pay; else none.
        nse: the median over basins with the common weights and with those by basin, each in years that were left out
            of their learning in turn; None where the years are too few.
    """

    common: dict[str, float]
    by_basin: dict[str, dict[str, float]]
    nse: tuple[float, float] | None
    period: Period | None = None


def learn_weights(
    work: Work, version_ids: Sequence[str], period: Period | None, basins: Sequence[str]
) -> LearntWeights:
    """Return the weights of versions: the common ones have the largest median NSE of their mean over basins.

    Those by basin are of the basin's own errors, drawn to the common ones, and only if the median NSE of years left out
    is larger with them. Versions with a twin are represented by it. The period is by default the validation period that
    all share; days that one was fitted to are refused.
    """
    if not 2 <= len(version_ids) <= MAX_PARTS:
        raise InvalidInput(f"Weights are learnt of two to {MAX_PARTS} versions, not {len(version_ids)}: give them.")
    with work.database.reading() as session:
        stored = [versions.get(session, version) for version in version_ids]
        loaded = [load_version(session, version.scored_as) for version in stored]
        shared = set.intersection(*(set(one.version.basins) for one in loaded))
        names = basins or basin_records.known(session, sorted(shared))
    days = _days(loaded, period)
    products = list(dict.fromkeys(name for one in loaded for name in one.version.area_products))
    past = PastDays(work.database, days, products)
    found: dict[str, Array] = {}
    blocks = in_blocks(names)
    for block in work.counted("groups of basins simulated", blocks, len(blocks)):
        found.update(_errors(past, loaded, block))
    if not found:
        raise DataProblem(
            f"No basin has the weather of all versions and flow over {days}. {first_texts(past.left_out)}"
        )
    return replace(weights_by_errors(version_ids, [*found], np.stack([*found.values()])), period=days)


def weights_by_errors(version_ids: Sequence[str], names: Sequence[str], errors: Array) -> LearntWeights:
    """Return the weights of versions by their errors in some basins.

    The errors are products of each two versions' errors over the variance of the basin's observed flow, by water year,
    (basins, years, versions, versions).
    """
    candidates = np.array(list(_simplex(len(version_ids)))) / STEPS
    common = _common(errors, candidates)
    nse = _of_years_left_out(errors, candidates) if errors.shape[1] >= MIN_YEARS else None
    by_basin: dict[str, dict[str, float]] = {}
    if nse is not None and nse[1] > nse[0]:
        own = zip(names, _by_basin(errors, common, candidates), strict=True)
        by_basin = {name: _positive(version_ids, weights) for name, weights in own}
    return LearntWeights(_positive(version_ids, common), by_basin, nse)


def _positive(version_ids: Sequence[str], weights: Array) -> dict[str, float]:
    return {version: float(weight) for version, weight in zip(version_ids, weights, strict=True) if weight > 0}


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


def _errors(past: PastDays, loaded: Sequence[LoadedVersion], names: Sequence[str]) -> Iterator[tuple[str, Array]]:
    """Yield for each basin the products of the versions' errors by water year, over the variance of the observed flow.

    (years, versions, versions): the NSE of a weighted mean is 1 less the quadratic form of its weights, of all years.
    """
    of_versions = [{basin.id: basin for basin in past.simulated(one, names)} for one in loaded]
    years = water_year(past.period.days)
    for name, first in of_versions[0].items():
        found = [of_version[name] for of_version in of_versions if name in of_version]
        known = np.isfinite(first.observed)
        observed = first.observed[known]
        spread = float(((observed - observed.mean()) ** 2).sum()) if known.any() else 0.0
        if len(found) == len(loaded) and spread > 0:
            errors = np.stack([one.members.mean(axis=0, dtype=np.float64)[known] - observed for one in found])
            of_years = [errors[:, years[known] == year] for year in np.unique(years)]
            yield name, np.stack([of_year @ of_year.T for of_year in of_years]) / spread


def _common(errors: Array, candidates: Array) -> Array:
    """Return the weights whose median NSE over basins is the largest, (versions,)."""
    of_basins = errors.sum(axis=1)
    medians = [np.median(_nse(of_basins, weights)) for weights in candidates]
    return np.asarray(candidates[int(np.argmax(medians))])


def _by_basin(errors: Array, common: Array, candidates: Array) -> Array:
    """Return the weights of each basin, (basins, versions): those of its own errors, drawn to the common ones.

    They minimise years x (1 - NSE) + PULL x |weights - common|²; a version takes part everywhere or nowhere.
    """
    possible = candidates[((candidates > 0) == (common > 0)).all(axis=1)]
    own = np.einsum("ci,nij,cj->nc", possible, errors.sum(axis=1), possible)
    drawn = PULL * ((possible - common) ** 2).sum(axis=1)
    return np.asarray(possible[np.argmin(errors.shape[1] * own + drawn, axis=1)])


def _of_years_left_out(errors: Array, candidates: Array) -> tuple[float, float]:
    """Return the median NSE over basins with common weights and with those by basin, in years left out in turn."""
    lost = np.zeros((2, len(errors)))
    for year in range(errors.shape[1]):
        others = np.delete(errors, year, axis=1) * (errors.shape[1] / (errors.shape[1] - 1))
        common = _common(others, candidates)
        lost += 1 - np.stack(
            [_nse(errors[:, year], weights) for weights in (common, _by_basin(others, common, candidates))]
        )
    common_median, own_median = np.median(1 - lost, axis=1).tolist()
    return common_median, own_median


def _nse(errors: Array, weights: Array) -> Array:
    """Return the NSE of each basin by products of errors; weights are (versions,) or (basins, versions)."""
    of_basins = np.broadcast_to(weights, (len(errors), weights.shape[-1]))
    return np.asarray(1 - np.einsum("ni,nij,nj->n", of_basins, errors, of_basins))


def _simplex(parts: int) -> Iterator[list[int]]:
    for bars in combinations(range(STEPS + parts - 1), parts - 1):
        edges = [-1, *bars, STEPS + parts - 1]
        yield [edges[at + 1] - edges[at] - 1 for at in range(parts)]
