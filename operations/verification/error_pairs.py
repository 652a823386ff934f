"""Pairs of simulated and observed flow of past days.

Simulations start from an empty store on the first day of a basin's record, as the forecasts' states do."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.calendar import Period
from models.arrays import days_of
from operations.data.dataset import BasinForcing, load_discharge, load_forcings, stacked
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
    left_out: dict[str, str],
    means: Mapping[str, float] | None = None,
) -> Iterator[SimulatedBasin]:
    """Yield each basin's simulated and observed flow over a period, basins of one record together.

    Args:
        left_out: receives why a basin is not yielded.
        means: as in `load_forcings`.
    """
    with database.reading() as session:
        ready = _ready(session, loaded, period, basins, left_out, means)
    for record in sorted({forcing.period for forcing, _ in ready.values()}, key=str):
        group = {basin: one for basin, one in ready.items() if one[0].period == record}
        outputs, _ = loaded.ensemble.simulate(
            stacked([forcing.forcing for forcing, _ in group.values()]), None, ("discharge",)
        )
        of_period = outputs["discharge"][:, :, days_of(record, period)]
        for at, (basin, (forcing, observed)) in enumerate(group.items()):
            if np.isfinite(of_period[:, at]).all():
                yield SimulatedBasin(basin, record, of_period[:, at], observed, forcing.assumed)
            else:
                left_out[basin] = f"{basin}: the network skips days of {period} for lack of forcing."


def _ready(
    session: Session,
    loaded: LoadedVersion,
    period: Period,
    basins: Sequence[str],
    left_out: dict[str, str],
    means: Mapping[str, float] | None,
) -> dict[str, tuple[BasinForcing, Observed]]:
    ready = {}
    for basin, forcing in load_forcings(session, basins, loaded.config, means).items():
        if isinstance(forcing, str):
            left_out[basin] = forcing
        elif period.overlap(forcing.period) != period:
            left_out[basin] = forcing.stop or f"{basin}: the forcing {forcing.period} does not cover {period}."
        elif isinstance(flow := load_discharge(session, basin, loaded.version.area_products, period), str):
            left_out[basin] = flow
        else:
            ready[basin] = forcing, flow.astype(np.float64)
    return ready
