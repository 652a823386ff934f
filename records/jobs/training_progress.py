"""How far a training is whose members are jobs of their own."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from records.database.base import JsonObject
from records.jobs.job_row import Job, change, get, record_event


def show(session: Session, training: str, members: Sequence[Job], at: datetime) -> None:
    """Tell how far a training is by its members, while it waits for them. The caller has locked its row."""
    parent = get(session, training)
    if parent.status != "waiting":
        return
    progress = progress_of(members)
    if progress is not None and progress != parent.progress:
        record_event(session, training, "progress", progress, at)
        change(session, parent, at, progress=progress)


def progress_of(members: Sequence[Job]) -> JsonObject | None:
    """Return the steps of all members together, and in words those of each that is under way; None before the first.

    Args:
        members: of one training, or of several by one recipe: each takes the same number of steps.
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
    """Return what to call a member: its label, and where there are several trainings, which one it is of."""
    trainings = list(dict.fromkeys(other.params["training"] for other in members))
    of = f" of ensemble {trainings.index(member.params['training']) + 1}" if len(trainings) > 1 else ""
    return f"member {member.params['member']}{of}"
