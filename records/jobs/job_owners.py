"""Owner of a job: the service or an operator.

A job belongs to the service if no key or an administrator's key posted it. Operators' jobs are not published as the
service's state, and cannot delay the service's own jobs.
"""

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from records.access.tables import KeyRow
from records.jobs.tables import JobRow


def of_service(key_id: InstrumentedAttribute[str | None] | InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Return the condition that a column holds no key, or an administrator's."""
    return or_(key_id.is_(None), key_id.in_(select(KeyRow.id).where(KeyRow.scope == "admin")))


JOB_OF_SERVICE = of_service(JobRow.key_id)


def is_of_service(session: Session, key_id: str | None) -> bool:
    """Return whether a job with this key, or without one, is the service's."""
    return key_id is None or session.scalar(select(KeyRow.scope).where(KeyRow.id == key_id)) == "admin"
