"""How far a training is whose members are jobs of their own."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from records.jobrow import Job, change, get, tell
from records.tables.base import JsonObject


def show(session: Session, training: str, members: Sequence[Job], at: datetime) -> None:
    """Tell how far a training is by its members, while it waits for them. The caller has locked its row."""
    parent = get(session, training)
    if parent.status != "waiting":
        return
    progress = progress_of(members)
    if progress is not None and progress != parent.progress:
        tell(session, training, "progress", progress, at)
        change(session, parent, at, progress=progress)


def progress_of(members: Sequence[Job]) -> JsonObject | None:
    """Return the steps of all members together, and in words those of each that is under way; None before the first.

    Args:
        members: of one training: each takes the same number of steps.
    """
    steps = max((member.progress["total"] for member in members if member.progress), default=None)
    if steps is None:
        return None
    trained = sum(member.status == "succeeded" for member in members)
    under_way = {
        member.params["member"]: member.progress["done"]
        for member in members
        if member.progress and member.status != "succeeded"
    }
    parts = [f"{trained} of {len(members)} members are trained"]
    parts += [f"member {label} is at {done} of {steps}" for label, done in under_way.items()]
    return {
        "done": trained * steps + sum(under_way.values()),
        "total": len(members) * steps,
        "detail": "; ".join(parts),
    }
