"""Computes the outlook of a run's flow from its stored arrays."""

from collections.abc import Mapping

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, converted
from hydrology.extremes.alerting import WINDOW_DAYS
from hydrology.outlook.days_ahead import FlowBasis
from hydrology.outlook.flow_outlook import Surroundings, flow_outlook
from hydrology.outlook.levels import Level
from hydrology.uncertainty.error_model import LEVELS
from hydrology.uncertainty.exceedance import FlowAhead
from hydrology.uncertainty.weighted import of_traces, weighted_quantiles
from records.levels import basin_levels
from records.outlooks.run_outlook import FlowOutlooks
from records.runs import run_arrays, runs
from records.runs.adjustment import Adjustment
from records.runs.run_arrays import RunSeries
from records.runs.run_parts import weights_of_members
from records.runs.run_summary import RunCalibration
from records.runs.run_types import NewRun, RunBasin
from records.series.year_rows import DamagedSeries

ARRAYS = ("discharge", run_arrays.CALIBRATED, run_arrays.PATHS, run_arrays.NORMAL)
"""The arrays that it is computed from."""
Series = Mapping[str, RunSeries]


def distribution(series: Series, basin: RunBasin) -> tuple[FlowBasis, FlowAhead] | None:
    """Return the distribution of a run's flow: calibrated where it is, else of the members.

    None where the arrays are not stored.
    """
    if (calibrated := runs.calibrated_flow(series)) is not None:
        return "calibrated", calibrated
    return None if "discharge" not in series else ("members", members_flow(series["discharge"], basin))


def members_flow(discharge: RunSeries, basin: RunBasin) -> FlowAhead:
    """Return the flow of every member with every trace of weather, mm/day."""
    paths = discharge.values.reshape(-1, discharge.values.shape[-1])
    weights = weights_of_members(basin.summary.parts, discharge.axes["member"])
    of_paths = of_traces(weights, len(paths) // len(discharge.values))
    quantiles = weighted_quantiles(paths, LEVELS, of_paths).astype(np.float32)  # as the run stores them
    return FlowAhead(LEVELS, quantiles.astype(np.float64), paths.astype(np.float64), of_paths)


def flow_outlooks(
    session: Session, run: NewRun, basin: RunBasin, series: Series, adjustment: Adjustment | None
) -> FlowOutlooks | None:
    """Return the outlook of a run's flow of a basin; None where its arrays are not stored.

    Args:
        adjustment: the published one; None without one.
    """
    if (found := distribution(series, basin)) is None:
        return None
    basis, flow = found
    around = _surroundings(session, run, basin, series, found)
    adjusted = None
    if adjustment is not None:
        adjusted = flow_outlook(adjustment.of_flow.adjusted_ahead(flow), around, adjustment.chances)
    return FlowOutlooks(
        basis=basis,
        window_days=around.window,
        issued=flow_outlook(flow, around, {}),
        adjustment=None if adjustment is None else adjustment.id,
        adjusted=adjusted,
    )


def _surroundings(
    session: Session, run: NewRun, basin: RunBasin, series: Series, found: tuple[FlowBasis, FlowAhead]
) -> Surroundings:
    area = None if basin.area_m2 is None or basin.area_name is None else Area(basin.area_name, basin.area_m2)
    no_normal = basin.why(basin.summary.normal_mm)
    return Surroundings(
        past=run.filled_days,
        before=_flow_before(run, basin, *found),
        normal=series[run_arrays.NORMAL].values.astype(np.float64) if run_arrays.NORMAL in series else no_normal,
        area=area,
        levels=absent(Reason.NO_AREA_FOR_LEVELS) if area is None else levels_of(session, basin.basin_id, area),
        window=min(run.horizon_days - run.filled_days, WINDOW_DAYS),
    )


def levels_of(session: Session, basin: str, area: Area) -> list[Level] | Absent:
    """Return the levels of a basin that can have an alert, or that its record is damaged."""
    try:
        levels = [*basin_levels.alert_levels(session, basin)]
    except DamagedSeries as problem:
        return absent(Reason.FAILED, message=str(problem))
    return [
        Level(
            level=level.name,
            kind=level.kind,
            return_period_years=level.return_period_years,
            direction=level.direction,
            discharge=float(converted(level.discharge or 0.0, unit=level.unit or "m3/s", into="m3/s", area=area)),
            official_stage=level.official_stage,
        )
        for level in levels
    ]


def _flow_before(run: NewRun, basin: RunBasin, basis: FlowBasis, flow: FlowAhead) -> float | None:
    """Return the flow of the last past day: as observed last, else as the run has it."""
    used = basin.summary.calibration
    if basis == "calibrated" and isinstance(used, RunCalibration) and used.last_flow_mm is not None:
        return used.last_flow_mm
    return float(flow.median[run.filled_days - 1]) if run.filled_days else basin.summary.flow_at_t0_mm
