"""What the records say of the machine's clock: nothing that is kept can have happened later than now."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from records.jobs.tables import JobRow, ScheduleRow
from records.runs.tables import RunRow

TOLERANCE = timedelta(minutes=5)
"""By so much the clocks of two machines may differ."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """Something that is kept from an instant that has not come yet.

    Attributes:
        what: which, as the beginning of a sentence.
    """

    what: str
    at: datetime


def ahead(session: Session, now: datetime) -> list[Ahead]:
    """Return what was made later than now by the wall's clock: the newest job and run, and the last firing."""
    newest_job = select(JobRow.id, JobRow.created_at).order_by(JobRow.id.desc()).limit(1)
    newest_run = select(RunRow.id, RunRow.created_at).order_by(RunRow.id.desc()).limit(1)
    fired_at = session.scalar(select(func.max(ScheduleRow.last_run_at)))
    seen = [
        *(Ahead(f"job {job}", at) for job, at in session.execute(newest_job)),
        *(Ahead(f"run {run}", at) for run, at in session.execute(newest_run)),
        *([] if fired_at is None else [Ahead("a schedule's last job", fired_at)]),
    ]
    return [each for each in seen if each.at > now + TOLERANCE]
