"""Detects a wrong clock: no stored time may be in the future."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from records.jobs.job_row import JOBS
from records.jobs.schedules import SCHEDULES
from records.runs.tables import RunRow

TOLERANCE = timedelta(minutes=5)
"""Maximum accepted difference between the clocks of two machines."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """A record from the future.

    Attributes:
        what: the record, as the start of a sentence.
    """

    what: str
    at: datetime


def ahead(session: Session, now: datetime) -> list[Ahead]:
    """Return the records from the future: of the newest job, the newest run and the last firing."""
    newest_job = select(JOBS.c.id, JOBS.c.created_at).order_by(JOBS.c.id.desc()).limit(1)
    newest_run = select(RunRow.id, RunRow.created_at).order_by(RunRow.id.desc()).limit(1)
    fired_at = session.scalar(select(func.max(SCHEDULES.c.last_run_at)))
    seen = [
        *(Ahead(f"job {job}", at) for job, at in session.execute(newest_job)),
        *(Ahead(f"run {run}", at) for run, at in session.execute(newest_run)),
        *([] if fired_at is None else [Ahead("a schedule's last job", fired_at)]),
    ]
    return [each for each in seen if each.at > now + TOLERANCE]
