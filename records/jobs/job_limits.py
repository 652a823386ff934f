"""Limits the unfinished jobs of an operator's key, so that one key does not fill the queues."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput
from records.access import keys
from records.access.keys import KEYS
from records.jobs.job_row import JOBS


class TooManyUnfinishedJobs(InvalidInput):
    """The key has reached its limit of unfinished jobs."""

    kind = "too-many-unfinished-jobs"
    status = 409
    remedy = "Wait until some of the key's jobs have ended, or cancel some, and send the request again."


def require_within_limit(session: Session, key_id: str | None, limit: int) -> None:
    """Check that a key is within its limit, counting the job just posted.

    The key's row stays locked until the transaction ends, so that jobs posted at the same time are all counted.
    Children of a job do not count; an administrator's key and the service itself have no limit.

    Raises:
        TooManyUnfinishedJobs: it is not; let the transaction roll back.
    """
    if keys.is_official(session, key_id):
        return
    # On SQLite the whole database is locked already, and FOR UPDATE is left out.
    session.execute(select(KEYS.c.id).where(KEYS.c.id == key_id).with_for_update(key_share=True))
    own = (JOBS.c.key_id == key_id, JOBS.c.parent_id.is_(None), JOBS.c.finished_at.is_(None))
    unfinished = session.scalar(select(func.count()).select_from(JOBS).where(*own)) or 0
    if unfinished > limit:
        raise TooManyUnfinishedJobs(
            f"This key has {unfinished - 1} unfinished jobs, and operators may have {limit}: wait until some have "
            "ended, or cancel some (GET /v1/jobs?status=queued lists them, POST /v1/jobs/JOB/cancel stops one)."
        )
