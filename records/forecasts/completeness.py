"""Whether the issue of a day is complete at its stated time, and why not: what operators are notified of."""

from datetime import datetime, time, timedelta

from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from hydrology.base.errors import counted
from records.alerts import issue_notices
from records.alerts.issue_notices import Notice
from records.database.checksums import new_id
from records.database.stored import find
from records.forecasts import issues
from records.forecasts.issues import Issue

NOT_STARTED, UNFINISHED, PENDING = "not_started", "unfinished", "pending"
"""Causes beside the codes of the reasons of missing basins: no cycle, one that has not ended, parts that were lost."""
MAX_EXAMPLES = 3


def due(session: Session, now: datetime, stated: time) -> Notice | None:
    """Return the notice to store now: of the last day whose stated time (UTC) is over, if its causes have changed.

    None before the first issue. The same causes count once, also where they last for days.
    """
    of_day = day((now - timedelta(days=int(now.time() < stated))).date())
    if not issues.page(session, before=of_day, limit=1):
        return None
    issue, last = find(session, Issue, day=of_day), issue_notices.last(session)
    causes = ",".join(sorted(_causes(issue)))
    is_known = causes == (last.causes if last else "") or issue_notices.is_stored(session, of_day, causes)
    if is_known:
        return None
    return Notice(id=new_id(now), day=of_day, causes=causes, at=now, why=_why(session, issue, stated))


def _causes(issue: Issue | None) -> set[str]:
    if issue is None:
        return {NOT_STARTED}
    if issue.closed_at is None:
        return {UNFINISHED}
    return {*issue.tally.reasons} or ({PENDING} if issue.tally.lacking else set())


def _why(session: Session, issue: Issue | None, stated: time) -> str:
    """Return the state of an issue in sentences."""
    if issue is None:
        return f"No cycle of it was started by {stated:%H:%M} UTC."
    renewed = f"{issue.tally.renewed} of {counted(issue.tally.expected, 'basin')} have a forecast of this day"
    if issue.closed_at is None:
        return f"Its cycle has not ended: {renewed}."
    missing = issues.basins_of(session, issue.day, issues.MISSING)
    if not missing:
        return f"{renewed[:1].upper()}{renewed[1:]}{', issued late' if issue.late else ''}."
    examples = [f"{one.basin_id}: {one.reason or 'its part was lost.'}" for one in missing[:MAX_EXAMPLES]]
    more = [f"And {len(missing) - MAX_EXAMPLES} more."] if len(missing) > MAX_EXAMPLES else []
    return " ".join([f"{renewed}, {len(missing)} lack one.", *examples, *more])
