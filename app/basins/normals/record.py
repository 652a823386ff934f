"""Daily records behind normals: observed series, and water simulated by the current version."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.basins.observations.service import DISCHARGE
from hydrology.base import units as convert
from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from records.series import series
from records.simulations import simulated_storage, snow_cells
from records.simulations.simulated_storage import SimulatedWater, WaterVariable
from records.versions import versions


@dataclass(frozen=True, slots=True)
class Record:
    """All known days of a variable, in the unit of the answer.

    Attributes:
        source: the product, or the version that simulates the values.
        values: (days,), NaN where missing.
    """

    kind: Literal["observed", "simulated"]
    source: str
    unit: str
    period: Period
    values: npt.NDArray[np.floating]


def observed(
    session: Session, basin: str, product: str, variable: str, units: Units | None, area: convert.Area | None
) -> Record | Absent:
    """Return a product's series (discharge in the requested unit), or why there is none."""
    daily = series.read(session, basin, product, variable)
    if daily is None:
        return absent(Reason.NO_SERIES, variable=variable, product=product, basin=basin)
    if variable != DISCHARGE or units is None:
        return Record("observed", product, daily.unit, daily.period, daily.values)
    flow = convert.converted(daily.values, unit=daily.unit, into=units, area=area)
    return Record("observed", product, units, daily.period, flow)


def simulated(session: Session, basin: str, version: str | None, variable: WaterVariable) -> Record | Absent:
    """Return the water simulated by the current version, or why there is none."""
    if version is None:
        return absent(Reason.NO_CURRENT_VERSION, basin=basin)
    if not versions.get(session, version).conserving:
        return absent(Reason.NOT_CONSERVING)
    water = _water(session, basin, version, variable)
    return water if isinstance(water, Absent) else Record("simulated", version, "mm", water.period, water.values)


def _water(session: Session, basin: str, version: str, variable: WaterVariable) -> SimulatedWater | Absent:
    if variable == "storage":
        return simulated_storage.storage_of(session, version, basin)
    return simulated_storage.snow_of(session, version, basin, snow_cells.mapping(session, version, basin))
