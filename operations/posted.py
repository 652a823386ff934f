"""What a posted job may do, by whose it is."""

from sqlalchemy.orm import Session

from hydrology.errors import InvalidInput
from records import basins, bridges, keys
from records.jobs import Job


def speaks_for_the_service(session: Session, job: Job) -> bool:
    """Return whether a job is an admin's, or one that no key posted: a schedule's, which an admin made.

    Only such a job issues forecasts that become the latest.
    """
    return job.key_id is None or keys.get(session, job.key_id).scope == "admin"


def require_may_fit(session: Session, job: Job, name: str, model: str | None) -> None:
    """See that a job may fit a bridge: what operational forecasts may rest on is fitted for the service alone.

    Raises:
        InvalidInput: it is an operator's, and the bridge is kept already, or is for weather forecasts.
    """
    if speaks_for_the_service(session, job):
        return
    if model is not None or bridges.is_kept(session, name):
        raise InvalidInput(
            f"Forecasts may rest on the bridge {name}: an admin's key fits it; an operator's fits a new one, for "
            "observed weather."
        )


def require_describable(session: Session, job: Job, basin: str) -> None:
    """Return when a job may say what a basin is like: its key registered the basin, or the basin is new, or it speaks
    for the service.

    Raises:
        InvalidInput: it may not.
    """
    if speaks_for_the_service(session, job) or not basins.known(session, [basin]):
        return
    if basins.registered_by(session, basin) != job.key_id:
        raise InvalidInput(f"{basin} was not registered with this key: use the key that did, or an admin's.")


def changeable(session: Session, job: Job) -> list[str]:
    """Return the basins whose observations a job may write.

    An operator's job changes the basins that its key registered. An admin's, and one that no key posted, changes those
    of every user. A basin with a published source is never among them: its observations come from that source.
    """
    if speaks_for_the_service(session, job):
        return basins.user_basins(session)
    return basins.user_basins(session, job.key_id)
