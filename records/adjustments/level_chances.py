"""The chance of passing each level of a basin by a run, as computed and as a forecaster adjusted it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, converted
from hydrology.extremes.alerting import WINDOW_DAYS
from hydrology.uncertainty.exceedance import FlowAhead
from records.adjustments.adjustments import Adjustment
from records.alerts.alerts import LevelChance
from records.levels import basin_levels
from records.runs import runs
from records.runs.run_summary import CalibrationKind
from records.runs.run_types import Run, RunBasin


@dataclass(frozen=True, slots=True)
class RunChances:
    """What a run makes of the levels of a basin.

    Attributes:
        window_days: number of days after T0 that the chances cover.
        chances: of every level, or the reason without any.
        adjustment: the published one that they follow; None without one.
    """

    run: Run
    basin_id: str
    window_days: int
    chances: Sequence[LevelChance] | Absent
    adjustment: Adjustment | None


def read_chances(session: Session, run: Run, basin: RunBasin, adjustment: Adjustment | None) -> RunChances:
    """Return the exceedance probability of each level within the window, or why there is none."""
    window = min(run.horizon_days - run.filled_days, WINDOW_DAYS)
    chances = _chances(session, run, basin, window, adjustment)
    return RunChances(run, basin.basin_id, window, chances, adjustment)


def _chances(
    session: Session, run: Run, basin: RunBasin, window: int, adjustment: Adjustment | None
) -> list[LevelChance] | Absent:
    flow = runs.flow_ahead(session, run.id, basin.basin_id)
    if flow is None:
        return basin.why_not_calibrated
    if basin.area_m2 is None or basin.area_name is None:
        return absent(Reason.NO_AREA_FOR_LEVELS)
    area = Area(basin.area_name, basin.area_m2)
    used = basin.summary.calibration
    if isinstance(used, Absent):
        return used
    judged: Mapping[str, float] = {}
    if adjustment is not None:
        flow, judged = adjustment.of_flow.adjusted_ahead(flow), adjustment.chances
    ahead = flow.after(run.filled_days).within(window).known()
    return [*_of_levels(session, basin.basin_id, ahead, area, used.kind, judged)]


def _of_levels(
    session: Session,
    basin: str,
    flow: FlowAhead,
    area: Area,
    calibration: CalibrationKind,
    judged: Mapping[str, float],
) -> Iterator[LevelChance]:
    for level in basin_levels.alert_levels(session, basin):
        assert level.discharge is not None
        assert level.unit is not None
        depth = float(converted(level.discharge, unit=level.unit, into="mm/day", area=area))
        computed = flow.chances(depth, level.direction)[1]
        yield LevelChance(
            level=level.name,
            kind=level.kind,
            return_period_years=level.return_period_years,
            direction=level.direction,
            discharge=float(converted(level.discharge, unit=level.unit, into="m3/s", area=area)),
            chance=judged.get(level.name, computed),
            calibration=calibration,
            official_stage=level.official_stage,
        )
