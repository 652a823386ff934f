"""The issue before a run, and the cause of the change since."""

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy.orm import Session

from hydrology.attribution.forecast_change import PARTS, whole_change
from hydrology.base.absent import Absent
from hydrology.base.calendar import Period
from hydrology.outlook.levels import LIKELY, highest
from hydrology.outlook.peak import Peak
from records.adjustments import adjustments
from records.outlooks import stored
from records.outlooks.flow_outlooks import ARRAYS, Series, flow_outlooks
from records.outlooks.run_outlook import FlowOutlooks, OutlookBefore, RunOutlook
from records.runs import run_arrays, runs
from records.runs.run_summary import NOT_STORED
from records.runs.run_types import NewRun, RunBasin, RunBasinKey
from records.runs.runs import MAX_DAYS_BEFORE

RunBefore = tuple[str, str]
"""Id and T0 of a run."""


def issues_before(
    session: Session, run: NewRun, basins: Sequence[str], present: Mapping[str, RunOutlook]
) -> dict[str, OutlookBefore]:
    """Return the issue before an operational run of each basin, without the cause of the change.

    Basins without one are left out.

    Args:
        present: stored outlooks of the run: the issue before stays the one that they name.
    """
    known = {
        name: (outlook.before.run, outlook.before.t0)
        for name, outlook in present.items()
        if isinstance(outlook.before, OutlookBefore)
    }
    days = Period(run.t0 - np.timedelta64(MAX_DAYS_BEFORE, "D"), run.t0 - np.timedelta64(1, "D"))
    found = runs.issued_before(session, [name for name in basins if name not in present], days, run.version_id)
    known |= {name: (previous.id, str(previous.t0)) for name, (previous, _) in found.items()}
    outlooks = stored.read(session, [(previous, name) for name, (previous, _) in known.items()])
    issues = {}
    for name, of_run in known.items():
        key = of_run[0], name
        if (outlook := outlooks.get(key) or _computed(session, key)) is not None:
            issues[name] = _issue(of_run, outlook)
    return issues


def cause_of_change(basin: RunBasin, series: Series, peak: Peak | Absent) -> str | Absent:
    """Return the largest part of the change since the issue before: of the day of the peak, or of the largest change.

    Args:
        series: of the run.
    """
    if run_arrays.CHANGES not in series:
        return basin.why(basin.summary.change)
    parts = series[run_arrays.CHANGES].values
    day = int(np.abs(whole_change(parts)).argmax())
    if isinstance(peak, Peak) and peak.lead <= parts.shape[-1]:
        day = peak.lead - 1
    return PARTS[int(np.nanargmax(np.abs(parts[0, :, day])))]


def _computed(session: Session, key: RunBasinKey) -> FlowOutlooks | None:
    """Return the outlook of a run that was stored before outlooks were."""
    run, basin, series = runs.get(session, key[0]), runs.basin_of(session, *key), runs.series_of(session, *key, ARRAYS)
    return flow_outlooks(session, run, basin, series, adjustments.published(session, *key))


def _issue(of_run: RunBefore, outlook: FlowOutlooks) -> OutlookBefore:
    run, t0 = of_run
    shown = outlook.published
    levels = () if isinstance(shown.levels, Absent) else shown.levels
    likely = highest(levels, LIKELY)
    return OutlookBefore(
        run=run,
        t0=t0,
        peak=shown.peak,
        likely=None if likely is None else likely.level,
        chances={one.level: one.chance for one in levels},
        cause=NOT_STORED,
    )
