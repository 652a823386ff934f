"""Attempts at a job: claimed, renewed, released, ended, and tried again; with the progress of a training's members."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from records.database.base import JsonObject
from records.database.stored import read
from records.jobs.jobs import ENDED, EVENTS, JOBS, Job, brief_children, change, get, hold, locked, record_event


def claim(session: Session, job: str, *, worker: str, lease_until: datetime, at: datetime) -> Job | None:
    """Start the next attempt of a queued job. None if it is not queued (taken by another worker, or ended)."""
    record = locked(session, job)
    if record.status != "queued":
        return None
    return change(
        session,
        record,
        at,
        status="running",
        attempt=record.attempt + 1,
        worker=worker,
        lease_until=lease_until,
        started_at=record.started_at or at,
        claimed_at=at,
    )


def heartbeat(
    session: Session, job: str, attempt: int, *, lease_until: datetime, progress: JsonObject | None = None, at: datetime
) -> bool:
    """Extend the lease, store any progress, and return whether the job should stop.

    The progress of a training's member is part of the training's.
    """
    record = hold(session, job, attempt)
    values: dict[str, Any] = {"lease_until": lease_until}
    if progress is not None and progress != record.progress:
        values["progress"] = progress
        record_event(session, job, "progress", progress, at)
    after = change(session, record, at, **values)
    if "progress" in values:
        _show_members(session, after, at)
    return after.cancel_requested_at is not None


def finish(
    session: Session,
    job: str,
    attempt: int,
    *,
    status: str,
    result: JsonObject | None = None,
    problem: JsonObject | None = None,
    at: datetime,
) -> Job:
    """End a job as `succeeded`, `failed` (with its problem) or `cancelled`. The latter two stop its children."""
    record = hold(session, job, attempt)
    progress = record.progress
    if progress is not None and status == "succeeded" and progress["done"] < progress["total"]:
        # its last report was not written
        progress = progress | {"done": progress["total"], "detail": ""}
    ended = end(session, record, status, at, result=result, problem=problem, progress=progress)
    _show_members(session, ended, at)
    return ended


def wait(session: Session, job: str, attempt: int, at: datetime) -> Job:
    """Let a job wait for the children it has posted. If it was asked to stop, cancel all of them.

    The attempt that posted them does not count against `max_attempts`.
    """
    record = hold(session, job, attempt)
    if record.cancel_requested_at is not None:
        return end(session, record, "cancelled", at)
    return change(session, record, at, status="waiting", lease_until=None, max_attempts=record.max_attempts + 1)


def resume_parent(session: Session, parent: str, at: datetime) -> bool:
    """Queue a waiting job again if all its children have ended. Of several concurrent callers, one gets True."""
    record = locked(session, parent)
    if record.status != "waiting" or any(child.status not in ENDED for child in brief_children(session, parent)):
        return False
    change(session, record, at, status="queued", sent_at=None)
    return True


def release(session: Session, job: str, attempt: int, at: datetime, why: str) -> Job:
    """Queue a job again that could not end through no fault of its own. Cancel it if it was asked to stop.

    The attempt does not count against `max_attempts`.
    """
    record = hold(session, job, attempt)
    if record.cancel_requested_at is not None:
        return end(session, record, "cancelled", at)
    record_event(session, job, "log", {"text": why}, at)
    return change(
        session, record, at, status="queued", lease_until=None, sent_at=None, max_attempts=record.max_attempts + 1
    )


def request_cancel(session: Session, job: str, at: datetime) -> Job:
    """Cancel a job and its children. A running job is asked to stop."""
    return _cancel(session, locked(session, job), at)


def end(session: Session, job: Job, status: str, at: datetime, **values: Any) -> Job:
    """End a job whose row is locked, and cancel its children unless it succeeded."""
    ended = change(session, job, at, status=status, lease_until=None, finished_at=at, **values)
    if status != "succeeded":
        _cancel_children(session, job, at)
    return ended


def _cancel(session: Session, job: Job, at: datetime) -> Job:
    if job.status in ("queued", "waiting"):
        return end(session, job, "cancelled", at, cancel_requested_at=at)
    if job.status == "running" and job.cancel_requested_at is None:
        job = change(session, job, at, cancel_requested_at=at)
        _cancel_children(session, job, at)
    return job


def _cancel_children(session: Session, job: Job, at: datetime) -> None:
    # Changing a child needs the lock of its parent, which is held here: no child changes meanwhile.
    for child in brief_children(session, job.id):
        _cancel(session, child, at)


def _show_members(session: Session, job: Job, at: datetime) -> None:
    if job.parent_id is None or (parent := get(session, job.parent_id)).status != "waiting":
        return
    progress = progress_of(brief_children(session, parent.id))
    if progress is not None and progress != parent.progress:
        record_event(session, parent.id, "progress", progress, at)
        change(session, parent, at, progress=progress)


_MEMBERS = ("member", "members")


def progress_of(children: Sequence[Job]) -> JsonObject | None:
    """Return the steps of all members in total, with the running ones in words. None before the first.

    Of the parts of a divided job it is their sum, where each part counts as 100.
    """
    if any(job.kind not in _MEMBERS for job in children):
        ended = sum(job.status in ENDED for job in children)
        running = [job.progress for job in children if job.progress and job.status not in ENDED]
        share = ended + sum(progress["done"] / max(1, progress["total"]) for progress in running)
        words = f"{ended} of {len(children)} parts are done"
        return {"done": int(100 * share), "total": 100 * len(children), "detail": words}
    # After a GPU was lost, jobs of single members take the place of the one of all.
    jobs = [job for job in children if not (_is_of_all(job) and job.status in ("failed", "cancelled"))]
    steps = max((job.progress["total"] // _members(job) for job in jobs if job.progress), default=None)
    if steps is None:
        return None
    trained = sum(_members(job) for job in jobs if job.status == "succeeded")
    members = sum(map(_members, jobs))
    under_way = [
        (_name(job, jobs), job.progress["done"], job.progress["total"])
        for job in jobs
        if job.progress and job.status != "succeeded"
    ]
    parts = [f"{trained} of {members} members are trained"]
    parts += [f"{name} at {done} of {total}" for name, done, total in under_way]
    return {
        "done": trained * steps + sum(done for _, done, _ in under_way),
        "total": members * steps,
        "detail": "; ".join(parts),
    }


def _is_of_all(job: Job) -> bool:
    return job.kind == "members"


def _members(job: Job) -> int:
    members: int = job.params["members"] if _is_of_all(job) else 1
    return members


def _name(job: Job, jobs: Sequence[Job]) -> str:
    trainings = list(dict.fromkeys(other.params["training"] for other in jobs))
    of = f" of ensemble {trainings.index(job.params['training']) + 1}" if len(trainings) > 1 else ""
    return f"all{of} on a GPU are" if _is_of_all(job) else f"member {job.params['member']}{of} is"


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
    return read(session, Job, select(JOBS).where(JOBS.c.status == "running", over).order_by(JOBS.c.id))


def running_at(session: Session, workers: Sequence[str]) -> list[Job]:
    return read(session, Job, select(JOBS).where(JOBS.c.status == "running", JOBS.c.worker.in_(workers)))


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
    deadly = problem["kind"] in (PROCESS_DIED, NO_PROGRESS) and problem == _last_problem(session, job)
    if deadly or job.attempt >= job.max_attempts:
        return end(session, job, "failed", at, problem=problem)
    return _queued_again(session, job, problem, at)


def _queued_again(session: Session, job: Job, problem: JsonObject, at: datetime, **values: Any) -> Job:
    return change(session, job, at, problem, status="queued", lease_until=None, sent_at=None, **values)


def _last_problem(session: Session, job: Job) -> JsonObject | None:
    """Return why the job was last queued again. None if it never was."""
    statuses = select(EVENTS.c.data).where(EVENTS.c.job_id == job.id, EVENTS.c.type == "status")
    newest_first = session.scalars(statuses.order_by(EVENTS.c.seq.desc()))
    return next((data["problem"] for data in newest_first if "problem" in data), None)
