"""Pairs of simulated and observed flow of past days.

Simulations start from an empty store on the first day of a basin's record, as the forecasts' states do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from models.arrays import days_of
from operations.basin_data.dataset import by_record, load_pairs
from operations.versions.load_networks import LoadedVersion
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
    """

    id: str
    record: Period
    members: npt.NDArray[np.floating]
    observed: Observed
    assumed: tuple[str, ...]


def simulated(
    database: Database,
    loaded: LoadedVersion,
    period: Period,
    basins: Sequence[str],
    left_out: dict[str, Absent],
    means: Mapping[str, float] | None = None,
) -> Iterator[SimulatedBasin]:
    """Yield each basin's simulated and observed flow over a period, basins of one record together.

    Args:
        left_out: receives why a basin is not yielded.
        means: as in `load_forcings`.
    """
    with database.reading() as session:
        products = loaded.version.area_products
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
