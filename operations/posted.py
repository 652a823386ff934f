"""Whose observations a posted job may change."""

from sqlalchemy.orm import Session

from records import basins, keys
from records.jobs import Job


def changeable(session: Session, job: Job) -> list[str]:
    """Return the basins whose observations a job may write.

    An operator's job changes the basins that its key registered. An admin's, and one that no key posted (a schedule's,
    which an admin made), changes those of every user. A basin with a published source is never among them: its
    observations come from that source.
    """
    if job.key_id is None or keys.get(session, job.key_id).scope == "admin":
        return basins.user_basins(session)
    return basins.user_basins(session, job.key_id)
