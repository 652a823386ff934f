"""Progress of a training whose members run as separate jobs."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from records.database.base import JsonObject
from records.jobs.job_row import Job, change, get, record_event


def show(session: Session, training: str, members: Sequence[Job], at: datetime) -> None:
    """Update a waiting training's progress from its members. The caller has locked its row."""
    parent = get(session, training)
    if parent.status != "waiting":
        return
    progress = progress_of(members)
    if progress is not None and progress != parent.progress:
        record_event(session, training, "progress", progress, at)
        change(session, parent, at, progress=progress)


def progress_of(members: Sequence[Job]) -> JsonObject | None:
    """Return the steps of all members in total, with the running ones in words. None before the first.

    Args:
        members: members of one training, or of several with one recipe: each takes the same number of steps.
    """
    steps = max((member.progress["total"] for member in members if member.progress), default=None)
    if steps is None:
        return None
    trained = sum(member.status == "succeeded" for member in members)
    under_way = [
        (_name(member, members), member.progress["done"])
        for member in members
        if member.progress and member.status != "succeeded"
    ]
    parts = [f"{trained} of {len(members)} members are trained"]
    parts += [f"{name} is at {done} of {steps}" for name, done in under_way]
    return {
        "done": trained * steps + sum(done for _, done in under_way),
        "total": len(members) * steps,
        "detail": "; ".join(parts),
    }


def _name(member: Job, members: Sequence[Job]) -> str:
    """Return a member's name: its label, and its training if there are several."""
    trainings = list(dict.fromkeys(other.params["training"] for other in members))
    of = f" of ensemble {trainings.index(member.params['training']) + 1}" if len(trainings) > 1 else ""
    return f"member {member.params['member']}{of}"
