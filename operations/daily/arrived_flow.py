"""Observed flow that has arrived since a forecast: its calibration starts from an older one."""

from collections.abc import Mapping
from datetime import datetime

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, as_date
from hydrology.base.products import DISCHARGE
from hydrology.uncertainty.error_model import MAX_GAP
from operations.basin_data.dataset import discharge_of
from operations.forecasting.plans import Plan
from records.runs.run_summary import RunCalibration
from records.runs.run_types import Run, RunBasin
from records.series import series

Flow = npt.NDArray[np.float64] | Absent


def with_arrived_flow(session: Session, plan: Plan, issued: Mapping[str, tuple[Run, RunBasin]]) -> set[str]:
    """Return the basins whose observed flow of the last days is not what it was when their forecast was issued."""
    calibrated = {
        name: run.issued_at
        for name, (run, basin) in issued.items()
        if isinstance(basin.summary.calibration, RunCalibration)
    }
    days = Period(plan.days.t0 - np.timedelta64(MAX_GAP - 1, "D"), plan.days.last_past)
    written = series.written_since(session, DISCHARGE, calibrated, as_date(days.first).year)

    def flow(basin: str, by: datetime | None) -> Flow:
        inputs = plan.inputs
        ((_, found),) = discharge_of(session, [inputs.basins[basin]], inputs.loaded.version.area_products, days, by)
        return found

    return {name for name in written if not _is_same(flow(name, calibrated[name]), flow(name, plan.inputs.by))}


def _is_same(one: Flow, other: Flow) -> bool:
    if isinstance(one, Absent) or isinstance(other, Absent):
        return isinstance(one, Absent) and isinstance(other, Absent)
    return np.array_equal(one, other, equal_nan=True)
