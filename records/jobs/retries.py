"""Attempts that were lost or failed: the job is tried again, or fails."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from records.database.base import JsonObject
from records.jobs.attempts import end
from records.jobs.job_row import EVENTS, JOBS, Job, change, hold, listed, locked, record_event

PROCESS_DIED = "process-died"
"""The kind of problem if the process that ran the job crashed or was killed."""
NO_PROGRESS = "no-progress"
"""The kind of problem if the job's progress has not changed for longer than its kind's limit for a step."""
WORKER_LOST = "worker-lost"
"""The kind of problem if the worker that ran the job is gone."""
UNEXPECTED = "internal"
"""The kind of problem if the job's code raised an error that it does not foresee."""
OF_ATTEMPTS = (PROCESS_DIED, NO_PROGRESS, WORKER_LOST, UNEXPECTED)
"""Kinds of problems that another attempt may not have."""
NO_GPU_WORKER = "no-gpu-worker"
"""The kind of problem if no worker with a GPU takes the job."""
MAX_DEADLY_FILES = 10
"""Maximum number of files of one source that its ingestion skips: check a source with more first."""


def retry(
    session: Session, job: str, attempt: int, problem: JsonObject, at: datetime, death: JsonObject | None = None
) -> Job:
    """Queue a job again after a problem. Fail it after its last attempt, cancel it if it was asked to stop.

    A job whose process has died or hung twice in the same way and at the same place fails too, since it would do so
    again. If that place is a file, the job continues without it (`deadly_files`), and the two attempts do not count.

    Args:
        death: `{"file", "end"}` of a process that died or hung while it read a file: its name, and how it ended.
    """
    record = hold(session, job, attempt)
    if death is not None and record.cancel_requested_at is None:
        known = deadly_files(session, job)
        record_event(
            session, job, "log", {"text": f"The process that read {death['file']} {death['end']}.", **death}, at
        )
        if len(known) < len(deadly_files(session, job)) <= MAX_DEADLY_FILES:
            return _queued_again(session, record, problem, at, max_attempts=record.max_attempts + 2)
    return _again(session, record, problem, at)


def deadly_files(session: Session, job: str) -> dict[str, str]:
    """Return the files that a job has to skip, with their last end. Its process died at each of them twice."""
    logs = select(EVENTS.c.data).where(EVENTS.c.job_id == job, EVENTS.c.type == "log").order_by(EVENTS.c.seq)
    deaths = [data for data in session.scalars(logs) if "file" in data]
    counts = Counter(death["file"] for death in deaths)
    return {death["file"]: death["end"] for death in deaths if counts[death["file"]] > 1}


def lapsed(session: Session, at: datetime, lease: timedelta) -> list[Job]:
    """Return the running jobs whose lease has expired.

    A lease that ends later than a new one has expired, too: the clock was set back.
    """
    over = or_(JOBS.c.lease_until < at, JOBS.c.lease_until > at + lease)
    return listed(session, select(JOBS).where(JOBS.c.status == "running", over).order_by(JOBS.c.id))


def running_at(session: Session, workers: Sequence[str]) -> list[Job]:
    """Return the jobs that some workers run."""
    return listed(session, select(JOBS).where(JOBS.c.status == "running", JOBS.c.worker.in_(workers)))


def take(session: Session, lost: Job, at: datetime) -> Job | None:
    """Take a lost job from its worker, as `retry` does. None if it has changed since it was read."""
    record = locked(session, lost.id)
    if (record.status, record.attempt, record.lease_until) != ("running", lost.attempt, lost.lease_until):
        return None
    detail = (
        f"The worker of attempt {record.attempt} of {record.max_attempts} ({record.worker}) was lost. "
        "Its log or the system's may show the cause."
    )
    return _again(session, record, {"kind": WORKER_LOST, "detail": detail}, at)


def give_up(session: Session, untaken: Job, problem: JsonObject, at: datetime) -> Job | None:
    """Fail a queued job that no worker can take. None if it has changed since it was read."""
    record = locked(session, untaken.id)
    if (record.status, record.attempt) != ("queued", untaken.attempt):
        return None
    return end(session, record, "failed", at, problem=problem)


def _again(session: Session, job: Job, problem: JsonObject, at: datetime) -> Job:
    if job.cancel_requested_at is not None:
        return end(session, job, "cancelled", at)
    if job.attempt >= job.max_attempts or _comes_again(session, job, problem):
        return end(session, job, "failed", at, problem=problem)
    return _queued_again(session, job, problem, at)


def _comes_again(session: Session, job: Job, problem: JsonObject) -> bool:
    return problem["kind"] in (PROCESS_DIED, NO_PROGRESS) and problem == _last_problem(session, job)


def _queued_again(session: Session, job: Job, problem: JsonObject, at: datetime, **values: Any) -> Job:
    return change(session, job, at, problem, status="queued", lease_until=None, sent_at=None, **values)


def _last_problem(session: Session, job: Job) -> JsonObject | None:
    """Return why the job was last queued again. None if it never was."""
    statuses = select(EVENTS.c.data).where(EVENTS.c.job_id == job.id, EVENTS.c.type == "status")
    newest_first = session.scalars(statuses.order_by(EVENTS.c.seq.desc()))
    problems = (data["problem"] for data in newest_first if "problem" in data)
    return next(problems, None)
