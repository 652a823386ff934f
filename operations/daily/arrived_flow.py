"""Observed flow that has arrived since a forecast: its calibration starts from an older one."""

from collections.abc import Mapping

import numpy as np
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


def with_arrived_flow(session: Session, plan: Plan, issued: Mapping[str, tuple[Run, RunBasin]]) -> set[str]:
    """Return the basins whose last flow was stored after their forecast was issued, and is not what it started from."""
    used = {
        name: (run.issued_at, calibration.last_flow_day, calibration.last_flow_mm)
        for name, (run, basin) in issued.items()
        if isinstance(calibration := basin.summary.calibration, RunCalibration)
    }
    days = Period(plan.days.t0 - np.timedelta64(MAX_GAP - 1, "D"), plan.days.last_past)
    issued_at = {name: at for name, (at, *_) in used.items()}
    written = series.written_since(session, DISCHARGE, issued_at, as_date(days.first).year)
    stored, products = [plan.inputs.basins[name] for name in written], plan.inputs.loaded.version.area_products
    arrived = set()
    for name, flow in discharge_of(session, stored, products, days, plan.inputs.by):
        if not isinstance(flow, Absent):
            last, (_, of_day, depth) = int(np.flatnonzero(np.isfinite(flow))[-1]), used[name]
            if of_day != str(days.days[last]) or depth is None or not np.isclose(flow[last], depth, rtol=1e-6, atol=0):
                arrived.add(name)
    return arrived
