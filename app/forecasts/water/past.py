"""Water in a basin on the days up to T0, from stored states and the simulated past."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.forecasts.water.schemas import PastWater
from app.http.json_numbers import gappy_column
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from records.forecasts.latest import Latest
from records.runs.past_states import cells_between
from records.simulations import simulated_storage
from records.simulations.simulated_storage import SimulatedWater
from records.simulations.snow_cells import mapping

Cells = Mapping[Day, npt.NDArray[np.floating]]


def past_water(session: Session, latest: Latest, days: int) -> PastWater | Absent:
    """Return the water of a number of days up to T0, the mean of the members.

    A day with a stored state has that state's water, any other that of the version's simulated past; the two agree
    where the weather is the same. The version conserves mass: cells of other networks hold no water.

    Args:
        days: number of days, T0 the last of them.
    """
    version, basin, t0 = latest.run.version_id, latest.basin.basin_id, latest.run.t0
    period = Period(t0 - (days - 1), t0)
    cells = cells_between(session, version, basin, period)
    simulated = simulated_storage.storage_of(session, version, basin)
    if not cells and isinstance(simulated, Absent):
        return simulated
    snow_cells = mapping(session, version, basin)
    total = _filled(simulated, period, {day: of_day.sum(axis=1).mean() for day, of_day in cells.items()})
    snow = None
    if not isinstance(snow_cells, Absent):
        past = simulated_storage.snow_of(session, version, basin, snow_cells)
        of_members = [snow_cells.cells[label] for label in latest.run.members]
        snow = gappy_column(_filled(past, period, _snow(cells, of_members)))
    return PastWater(time=period.days.tolist(), total=gappy_column(total), snow=snow)


def _snow(cells: Cells, chosen: Sequence[Sequence[int]]) -> dict[Day, float]:
    """Return the water in the snow cells of each member, the mean of the members, by day."""
    return {
        day: float(np.mean([row[list(wanted)].sum() for row, wanted in zip(of_day, chosen, strict=True)]))
        for day, of_day in cells.items()
    }


def _filled(simulated: SimulatedWater | Absent, period: Period, stored: Mapping[Day, float]) -> npt.NDArray[np.float64]:
    """Return the simulated water of a period, replaced on days with a stored state; NaN where neither is known."""
    values = np.full(len(period), np.nan)
    if not isinstance(simulated, Absent):
        at = (period.days - simulated.period.first).astype(int)
        known = (at >= 0) & (at < len(simulated.values))
        values[known] = simulated.values[at[known]]
    for day, water in stored.items():
        values[int((day - period.first).astype(int))] = water
    return values
