"""The chance of passing each level of a basin by a run, as its outlook has it: what alerts are decided by."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from hydrology.base.absent import Absent
from hydrology.extremes.alerting import WINDOW_DAYS
from records.alerts.alerts import LevelChance
from records.database.statements import as_values
from records.outlooks import outlooks
from records.runs.adjustment import Adjustment
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
    return RunChances(run, basin.basin_id, window, _chances(session, run, basin, adjustment), adjustment)


def _chances(session: Session, run: Run, basin: RunBasin, adjustment: Adjustment | None) -> list[LevelChance] | Absent:
    key, used = (run.id, basin.basin_id), basin.summary.calibration
    outlook = outlooks.of_runs(session, [(run, basin)], {} if adjustment is None else {key: adjustment})[key]
    if isinstance(outlook, Absent) or outlook.basis != "calibrated":
        return basin.why_not_calibrated
    levels = outlook.published.levels
    if isinstance(levels, Absent):
        return levels
    if isinstance(used, Absent):
        return used
    return [LevelChance(**as_values(level), calibration=used.kind) for level in levels]
