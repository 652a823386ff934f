"""Outlooks against what came: chances of levels, and peaks, on issue days of a year that the networks have not learnt.

Real basins, the shipped ten MC-LSTMs and their error model, both from other years; the weather of eleven traces is that
which came, perturbed. Every sixth day of a year a forecast of ten days is issued; those of the year before recalibrate
them, as they would have then. The levels are those of the whole record.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regional import data
from benchmarks.replays.alerts import fill_store, issue_instant
from hydrology.base.absent import Absent
from hydrology.base.arrays import Array
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Period
from hydrology.base.units import Area, converted
from hydrology.extremes.level_checks import LIKELY, POSSIBLE
from hydrology.outlook import Level, LevelOutlook, highest
from jobspec.jobs.forecasting import ReplayParams
from operations.daily.replay import replay
from operations.verification.recalibrate import recalibrate
from records.database.engine import Database
from records.outlooks import outlooks
from records.outlooks.flow_outlooks import RunOutlook
from records.runs import runs
from records.runs.run_types import Run, RunBasin
from records.runs.runs import RunRequest
from records.series import series
from runtime.clock import Clock
from testing.work import work_of

CALIBRATION, JUDGED = Period.parse("1995-10-01..1996-09-24"), Period.parse("1996-10-01..1997-09-25")
DAYS_BETWEEN = 6
HORIZON, TRACES = 10, 11
CLASSES = (0.0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.01)
"""Ends of the classes of chances."""


@dataclass(frozen=True, slots=True)
class Issue:
    """An outlook, and the flow that came.

    Attributes:
        before: observed flow of the last past day, mm/day; NaN where it is missing.
        came: observed flow of the days ahead, mm/day.
    """

    outlook: RunOutlook
    area: Area
    past: int
    before: float
    came: Array

    def passed(self, level: Level) -> bool:
        """Return whether flow passed a level within the window of chances."""
        flow = converted(self.came[: self.outlook.window_days], unit="mm/day", into="m3/s", area=self.area)
        return bool((flow > level.discharge).any() if level.direction == "rising" else (flow < level.discharge).any())


def measure(basins: int = 30) -> dict[str, Any]:
    """Return how often the outlooks' levels and peaks came."""
    names = data.basins()[:: len(data.basins()) // basins][:basins]
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'freshet.sqlite'}")
        database.migrate()
        version, _ = fill_store(database, names, issue_instant(CALIBRATION.first))
        _issue(database, CALIBRATION)
        recalibrate(work_of(database, Clock(issue_instant(JUDGED.first))), version)
        issues = _issues(database, _issue(database, JUDGED))
        database.close()
    return {
        "shape": f"{basins} basins, every {DAYS_BETWEEN}th day of {JUDGED}, {HORIZON} days ahead, {TRACES} traces",
        "issues": len(issues),
        "calibrated": sum(issue.outlook.basis == "calibrated" for issue in issues),
        **_of_levels(issues),
        **_of_peaks(issues),
    }


def _issue(database: Database, period: Period) -> list[str]:
    """Issue the forecasts of a period's issue days, and return the ids of their runs."""
    issued = []
    for day in period.days[::DAYS_BETWEEN]:
        params = ReplayParams(period=Period(day, day), horizon=HORIZON, traces=TRACES)
        issued += [run.id for run in replay(work_of(database, Clock(issue_instant(day))), RunRequest(params)).runs]
    return issued


def _issues(database: Database, issued: Sequence[str]) -> list[Issue]:
    """Return the outlooks of runs beside the flow that came; those without flow on every day are left out."""
    issues = []
    with database.reading() as session:
        for name in issued:
            run = runs.get(session, name)
            basins = [(run, basin) for basin in runs.basins_of(session, name) if basin.status == "issued"]
            found = outlooks.of_runs(session, basins)
            for _, basin in basins:
                outlook = found[name, basin.basin_id]
                if isinstance(outlook, Absent):
                    raise SystemExit(f"{basin.basin_id}: {outlook}")
                flow, area = _observed(session, run, basin)
                past = run.filled_days
                if np.isfinite(flow[past + 1 :]).all():
                    issues.append(Issue(outlook, area, past, before=float(flow[past]), came=flow[past + 1 :]))
    return issues


def _observed(session: Any, run: Run, basin: RunBasin) -> tuple[Array, Area]:
    """Return observed flow from T0 to the run's last day, mm/day, and the basin's area."""
    area = basin.area
    assert area is not None
    period = Period(run.t0, run.t0 + np.timedelta64(run.horizon_days, "D"))
    record = series.read(session, basin.basin_id, gauge_product(basin.basin_id), "discharge", period)
    if record is None:
        raise SystemExit(f"{basin.basin_id} has no observed flow.")
    flow = record.over(period).values
    return converted(flow, unit=record.unit, into="mm/day", area=area), area


def _of_levels(issues: Sequence[Issue]) -> dict[str, Any]:
    """Return how often levels were passed: the likely ones, the possible ones, and all floods by class of chance."""
    likely = [(issue, highest(_levels(issue.outlook), LIKELY)) for issue in issues]
    possible = [(issue, highest(_levels(issue.outlook), POSSIBLE)) for issue in issues]
    floods = [(issue, one) for issue in issues for one in _levels(issue.outlook) if one.direction == "rising"]
    return {
        "likely": _share([issue.passed(one) for issue, one in likely if one is not None]),
        "possible": _share([issue.passed(one) for issue, one in possible if one is not None and one.chance < LIKELY]),
        "reliability": _reliability(
            np.array([one.chance for _, one in floods]), np.array([issue.passed(one) for issue, one in floods])
        ),
    }


def _reliability(chances: Array, passed: Array) -> dict[str, Any]:
    """Return how often levels were passed, by class of chance."""
    classes = np.digitize(chances, CLASSES)
    return {
        f"{CLASSES[number - 1]:g} to {CLASSES[number]:g}": {
            "mean_chance": round(float(chances[classes == number].mean()), 3),
            **_share(passed[classes == number].tolist()),
        }
        for number in np.unique(classes)
    }


def _levels(outlook: RunOutlook) -> Sequence[LevelOutlook]:
    return () if isinstance(outlook.published.levels, Absent) else outlook.published.levels


def _of_peaks(issues: Sequence[Issue]) -> dict[str, Any]:
    """Return how often the height and day of the peak lay in their ranges, and how often none was due and none came."""
    heights: list[bool] = []
    days: list[bool] = []
    higher: list[bool] = []
    none: list[bool] = []
    for issue in issues:
        peak = issue.outlook.published.peak
        if isinstance(peak, Absent):
            none.append(bool(issue.came.max() <= issue.before))
            continue
        highest_flow, day = float(issue.came.max()), issue.past + 1 + int(issue.came.argmax())
        heights.append(peak.low <= highest_flow <= peak.high)
        higher.append(highest_flow > peak.height)
        days.append(peak.first <= day <= peak.last)
    return {
        "peak_height_in_90_percent_range": _share(heights),
        "peak_above_its_median": _share(higher),
        "peak_day_in_90_percent_range": _share(days),
        "no_peak_ahead_and_none_came": _share(none),
    }


def _share(cases: Sequence[bool]) -> Mapping[str, Any]:
    return {"cases": len(cases), "came": round(sum(cases) / len(cases), 3) if cases else None}
