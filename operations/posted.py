"""What a posted job may do, by whose it is."""

from sqlalchemy.orm import Session

from records import basins, keys
from records.jobs import Job


def speaks_for_the_service(session: Session, job: Job) -> bool:
    """Return whether a job is an admin's, or one that no key posted: a schedule's, which an admin made.

    Only such a job issues forecasts that become the latest.
    """
    return job.key_id is None or keys.get(session, job.key_id).scope == "admin"


def changeable(session: Session, job: Job) -> list[str]:
    """Return the basins whose observations a job may write.

    An operator's job changes the basins that its key registered. An admin's, and one that no key posted, changes those
    of every user. A basin with a published source is never among them: its observations come from that source.
    """
    if speaks_for_the_service(session, job):
        return basins.user_basins(session)
    return basins.user_basins(session, job.key_id)
