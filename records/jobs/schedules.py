"""Schedules. The caller computes the next due time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput, NotFound
from records.database.base import JsonObject
from records.database.ids import new_id
from records.database.statements import as_values, table_of
from records.jobs.tables import ScheduleRow

_schedules = table_of(ScheduleRow)


class UnknownSchedule(NotFound):
    """No schedule with this id is stored."""

    kind = "unknown-schedule"


class ScheduleConflict(InvalidInput):
    """The schedule has changed meanwhile, or its name is taken."""

    kind = "schedule-conflict"
    status = 409
    remedy = "Read the schedule again and send its new `ETag` as `If-Match`, or choose another name."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchedule:
    """The content of a schedule.

    Attributes:
        name: a name that no other schedule has.
        kind, params: of the job that is posted.
        cron: when, in the time zone.
        timezone: its name in the tz database.
        enabled: whether it fires.
        next_run_at: when it is due; None for never.
        key_id: the key whose permissions its jobs have; None for those of the service.
    """

    name: str
    kind: str
    params: JsonObject
    cron: str
    timezone: str
    enabled: bool = True
    next_run_at: datetime | None = None
    key_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule(NewSchedule):
    """A stored schedule.

    Attributes:
        last_run_at, last_job_id: when it last fired, and the job while it is stored.
        revision: grows with every update and every firing.
        updated_at: when its content was last changed.
    """

    id: str
    last_run_at: datetime | None
    last_job_id: str | None
    revision: int
    created_at: datetime
    updated_at: datetime


def create(session: Session, new: NewSchedule, at: datetime) -> Schedule:
    """Store a new schedule.

    Raises:
        ScheduleConflict: the name is taken.
        InvalidInput: it has no name.
    """
    values = as_values(new) | {"id": new_id(at), "revision": 1, "created_at": at, "updated_at": at}
    with _name_of_its_own(session, new):
        return _schedule(session.execute(_schedules.insert().values(**values).returning(*_schedules.c)).one())


def update(session: Session, schedule: str, revision: int, new: NewSchedule, at: datetime) -> Schedule:
    """Replace a schedule's content, if it is still at the given revision.

    Raises:
        UnknownSchedule: there is none with this id.
        ScheduleConflict: it was changed or has fired since, or the name is taken.
        InvalidInput: it has no name.
    """
    unchanged = (_schedules.c.id == schedule, _schedules.c.revision == revision)
    changed = _schedules.update().where(*unchanged).values(**as_values(new), revision=revision + 1, updated_at=at)
    with _name_of_its_own(session, new, schedule):
        row = session.execute(changed.returning(*_schedules.c)).one_or_none()
    if row is None:
        current = get(session, schedule).revision
        raise ScheduleConflict(
            f"Schedule {schedule} is at revision {current}, not {revision}: read it and change it again."
        )
    return _schedule(row)


def delete(session: Session, schedule: str) -> None:
    """Delete a schedule; its jobs stay.

    Raises:
        UnknownSchedule: there is none with this id.
    """
    deletion = _schedules.delete().where(_schedules.c.id == schedule).returning(_schedules.c.id)
    if session.execute(deletion).one_or_none() is None:
        raise _unknown(schedule)


def get(session: Session, schedule: str) -> Schedule:
    """Return a schedule.

    Raises:
        UnknownSchedule: there is none with this id.
    """
    row = session.execute(select(_schedules).where(_schedules.c.id == schedule)).one_or_none()
    if row is None:
        raise _unknown(schedule)
    return _schedule(row)


def list_schedules(session: Session) -> list[Schedule]:
    """Return all schedules by name."""
    return [_schedule(row) for row in session.execute(select(_schedules).order_by(_schedules.c.name))]


def enabled(session: Session) -> list[Schedule]:
    """Return the enabled schedules, soonest due first."""
    query = select(_schedules).where(_schedules.c.enabled, _schedules.c.next_run_at.is_not(None))
    return [_schedule(row) for row in session.execute(query.order_by(_schedules.c.next_run_at, _schedules.c.id))]


def set_next(session: Session, schedule: str, revision: int, next_run_at: datetime) -> bool:
    """Set when a schedule is due, if it is still at the revision that was seen, and return whether it was."""
    return _set_if_at(session, schedule, revision, next_run_at=next_run_at)


def advance(
    session: Session, schedule: str, revision: int, *, ran_at: datetime, next_run_at: datetime | None, job_id: str
) -> bool:
    """Record that a schedule fired, if it is still at the given revision. Of several concurrent callers, one gets True.

    Post the job first, in the same transaction, and roll back if this returns False.
    """
    fired = {"last_run_at": ran_at, "next_run_at": next_run_at, "last_job_id": job_id}
    return _set_if_at(session, schedule, revision, **fired)


def _set_if_at(session: Session, schedule: str, revision: int, **values: Any) -> bool:
    at_revision = (_schedules.c.id == schedule, _schedules.c.revision == revision)
    change = _schedules.update().where(*at_revision).values(values | {"revision": revision + 1})
    return session.execute(change.returning(_schedules.c.id)).one_or_none() is not None


@contextmanager
def _name_of_its_own(session: Session, new: NewSchedule, own: str | None = None) -> Iterator[None]:
    if not new.name.strip():
        raise InvalidInput("A schedule needs a name: give one.")
    try:
        with session.begin_nested():
            yield
    except IntegrityError as error:
        owner = session.scalar(select(_schedules.c.id).where(_schedules.c.name == new.name))
        if owner in (None, own):
            raise
        raise ScheduleConflict(f"Schedule {owner} has the name {new.name!r} already: choose another.") from error


def _schedule(row: Row[Any]) -> Schedule:
    return Schedule(**row._mapping)


def _unknown(schedule: str) -> UnknownSchedule:
    return UnknownSchedule(f"No schedule {schedule!r} is stored here: list the schedules to see their ids.")
