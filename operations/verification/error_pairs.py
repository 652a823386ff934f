"""Pairs of simulated and observed flow of past days.

Simulations start from an empty store on the first day of a basin's record, as the forecasts' states do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from models.arrays import days_of
from operations.basin_data.dataset import by_record, load_pairs
from operations.versions.load_networks import LoadedVersion, member_weights
from operations.versions.training_domain import attribute_means
from records.database.engine import Database

Observed = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SimulatedBasin:
    """Simulated and observed flow of a basin over the same days, mm/day.

    Attributes:
        record: the days of its forcing.
        members: (members, days).
        observed: (days,), NaN where missing.
        assumed: the names of the assumed attributes.
        weights: of the members, (members,), of sum 1; None where all are equal.
    """

    id: str
    record: Period
    members: npt.NDArray[np.floating]
    observed: Observed
    assumed: tuple[str, ...]
    weights: npt.NDArray[np.float64] | None = None


def simulated(
    database: Database,
    loaded: LoadedVersion,
    period: Period,
    basins: Sequence[str],
    left_out: dict[str, Absent],
    products: Sequence[str] | None = None,
) -> Iterator[SimulatedBasin]:
    """Yield each basin's simulated and observed flow over a period, where all parts of the version have them.

    Args:
        left_out: receives why a basin is not yielded.
        products: weather products whose area converts observed flow; by default those of the version.
    """
    areas, parts = products or loaded.version.area_products, loaded.parts
    of_parts = [
        {basin.id: basin for basin in _of_part(database, one.loaded, period, basins, left_out, areas)} for one in parts
    ]
    for name, first in of_parts[0].items():
        found = [of_part[name] for of_part in of_parts if name in of_part]
        if len(found) == len(of_parts):
            yield replace(
                first,
                members=np.concatenate([one.members for one in found]),
                assumed=tuple(dict.fromkeys(attribute for one in found for attribute in one.assumed)),
                weights=member_weights([one.part.in_basin(name) for one in parts]),
            )


def _of_part(
    database: Database,
    loaded: LoadedVersion,
    period: Period,
    basins: Sequence[str],
    left_out: dict[str, Absent],
    products: Sequence[str],
) -> Iterator[SimulatedBasin]:
    """Yield the basins of a part, those of one record together."""
    with database.reading() as session:
        means = attribute_means(loaded.version)
        ready = load_pairs(session, basins, loaded.config, period, products, left_out=left_out, means=means)
    for record, names, joined in by_record({basin: forcing for basin, (forcing, _) in ready.items()}):
        outputs, _ = loaded.ensemble.simulate(joined, None, ("discharge",))
        of_period = outputs["discharge"][:, :, days_of(record, period)]
        for at, basin in enumerate(names):
            forcing, observed = ready[basin]
            if np.isfinite(of_period[:, at]).all():
                flow = observed.astype(np.float64)
                yield SimulatedBasin(basin, record, of_period[:, at], flow, forcing.assumed)
            else:
                left_out[basin] = absent(Reason.NETWORK_SKIPS_DAYS, basin=basin, period=str(period))
