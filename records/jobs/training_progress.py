"""Progress of a training whose members run as separate jobs: each alone, or all of them on a GPU."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from records.database.base import JsonObject
from records.jobs.job_row import Job, change, get, record_event


def show(session: Session, training: str, children: Sequence[Job], at: datetime) -> None:
    """Update a waiting training's progress from its jobs. The caller has locked its row."""
    parent = get(session, training)
    if parent.status != "waiting":
        return
    progress = progress_of(children)
    if progress is not None and progress != parent.progress:
        record_event(session, training, "progress", progress, at)
        change(session, parent, at, progress=progress)


def progress_of(children: Sequence[Job]) -> JsonObject | None:
    """Return the steps of all members in total, with the running ones in words. None before the first.

    Args:
        children: jobs of one training, or of several with one recipe: each member takes the same number of steps.
    """
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
    """Return the name of a job's member, and of its training if there are several."""
    trainings = list(dict.fromkeys(other.params["training"] for other in jobs))
    of = f" of ensemble {trainings.index(job.params['training']) + 1}" if len(trainings) > 1 else ""
    return f"all{of} on a GPU are" if _is_of_all(job) else f"member {job.params['member']}{of} is"
