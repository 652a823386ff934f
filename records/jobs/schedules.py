"""Schedules, and the next firing of a cron line."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

from croniter import CroniterError, croniter
from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from hydrology.base.calendar import zone
from hydrology.base.errors import InvalidInput, NotFound, excerpt
from records.database.base import FreeText, JsonObject
from records.database.checksums import new_id
from records.database.stored import as_record, as_values, find_or_raise, read, stored, table_of

_HOUR = 1  # the place of the hour among the fields of a line
_SECOND = timedelta(seconds=1)
_ONE_DAY = timedelta(days=1)


class BadCron(InvalidInput):
    """The cron line or the time zone cannot be read."""


def next_run(cron: str, timezone: str, after: datetime) -> datetime:
    """Return the first instant after another at which a cron line fires, in UTC.

    A line with hours of its own (`30 1 * * *`) fires once for each local time that it names: at the first occurrence if
    the clock goes back, at the end of the gap if the clock skips the time. A line for every hour (`0 * * * *`) fires
    whenever the clock shows its minutes, also in the repeated hour.
    """
    try:
        there = zone(timezone)
    except InvalidInput as error:
        raise BadCron(str(error)) from error
    try:
        if len(cron.split()) != 5:
            raise CroniterError("it has not five fields")
        hours = croniter(cron).expanded[_HOUR]
        following = _every_hour if hours == ["*"] or len(hours) == 24 else _by_clock
        return following(cron, there, after.astimezone(UTC))
    except (CroniterError, OverflowError) as error:
        raise BadCron(
            f"{cron[:64]!r} is not a cron line ({excerpt(error)}): write minute, hour, day, month, weekday, such as "
            "30 6 * * *."
        ) from error


def _by_clock(cron: str, there: ZoneInfo, after: datetime) -> datetime:
    """Return the next firing of a line that names hours: once for each clock time."""
    at = _shown(after, there)
    while True:
        at = _next(cron, at)
        fires = _first_instant(at, there)
        if fires is not None and fires > after:
            return fires


def _first_instant(at: datetime, there: ZoneInfo) -> datetime | None:
    """Return the first instant of a clock's time; None in a skipped day."""
    first, second = (at.replace(tzinfo=there, fold=fold).astimezone(UTC) for fold in (0, 1))
    if _shown(first, there) == at:
        return first
    end = _change(there, second, first)
    day = at.replace(hour=0, minute=0)
    whole = _shown(end - _SECOND, there) < day and _shown(end, there) >= day + _ONE_DAY
    return None if whole else end


def _every_hour(cron: str, there: ZoneInfo, after: datetime) -> datetime:
    """Return the next firing of a line for every hour: by the clock's minutes, in repeated and skipped hours too."""
    while True:
        offset = _offset(after, there)
        fires = (_next(cron, _shown(after, there)) - offset).replace(tzinfo=UTC)
        until = min(fires, after + _ONE_DAY)
        if _offset(until, there) != offset:
            after = _change(there, after, until) - timedelta(microseconds=1)
            offset = _offset(after + _SECOND, there)
            fires = (_next(cron, (after + offset).replace(tzinfo=None)) - offset).replace(tzinfo=UTC)
            until = min(fires, after + _ONE_DAY)
        if until == fires:
            return fires
        after = until


def _change(there: ZoneInfo, before: datetime, after: datetime) -> datetime:
    final = _offset(after, there)
    while after - before > _SECOND:
        middle = before + timedelta(seconds=(after - before) // _SECOND // 2)
        before, after = (before, middle) if _offset(middle, there) == final else (middle, after)
    return after


def _next(cron: str, at: datetime) -> datetime:
    following = croniter(cron, at).get_next(datetime)
    assert isinstance(following, datetime)
    return following


def _shown(instant: datetime, there: ZoneInfo) -> datetime:
    return instant.astimezone(there).replace(tzinfo=None)


def _offset(instant: datetime, there: ZoneInfo) -> timedelta:
    offset = instant.astimezone(there).utcoffset()
    assert offset is not None
    return offset


class UnknownSchedule(NotFound):
    """No schedule with this id is stored."""


class ScheduleConflict(InvalidInput):
    """The schedule has changed meanwhile, or its name is taken."""

    status = 409
    remedy = "Read the schedule again and send its new `ETag` as `If-Match`, or choose another name."


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchedule:
    """The content of a schedule.

    `timezone` is a name in the tz database. `next_run_at` is None for never; jobs have the permissions of `key_id`,
    None for those of the service.
    """

    name: FreeText
    kind: str
    params: JsonObject
    cron: str
    timezone: str
    enabled: bool = True
    next_run_at: datetime | None = None
    # Not a foreign key: keys are revoked, never deleted.
    key_id: str | None = None


@stored("schedules", CheckConstraint("length(name) > 0", name="name"), UniqueConstraint("name"))
class Schedule(NewSchedule):
    """A stored schedule.

    `revision` grows with every update and every firing; `updated_at` is when its content was last changed.
    """

    id: str
    last_run_at: datetime | None
    last_job_id: Annotated[str | None, ForeignKey("jobs.id", ondelete="SET NULL")]
    revision: int
    created_at: datetime
    updated_at: datetime


SCHEDULES = table_of(Schedule)


def create(session: Session, new: NewSchedule, at: datetime) -> Schedule:
    values = as_values(new) | {"id": new_id(at), "revision": 1, "created_at": at, "updated_at": at}
    with _name_of_its_own(session, new):
        row = session.execute(SCHEDULES.insert().values(**values).returning(*SCHEDULES.c)).one()
        return as_record(Schedule, row)


def update(session: Session, schedule: str, revision: int, new: NewSchedule, at: datetime) -> Schedule:
    """Replace a schedule's content; ScheduleConflict unless it is at the revision."""
    unchanged = (SCHEDULES.c.id == schedule, SCHEDULES.c.revision == revision)
    changed = SCHEDULES.update().where(*unchanged).values(**as_values(new), revision=revision + 1, updated_at=at)
    with _name_of_its_own(session, new, schedule):
        row = session.execute(changed.returning(*SCHEDULES.c)).one_or_none()
    if row is None:
        current = get(session, schedule).revision
        raise ScheduleConflict(
            f"Schedule {schedule} is at revision {current}, not {revision}: read it and change it again."
        )
    return as_record(Schedule, row)


def delete(session: Session, schedule: str) -> None:
    session.execute(SCHEDULES.delete().where(SCHEDULES.c.id == get(session, schedule).id))


def get(session: Session, schedule: str) -> Schedule:
    unknown = UnknownSchedule(f"No schedule {schedule!r} is stored here: list the schedules to see their ids.")
    return find_or_raise(session, Schedule, unknown, id=schedule)


def list_schedules(session: Session) -> list[Schedule]:
    return read(session, Schedule, select(SCHEDULES).order_by(SCHEDULES.c.name))


def enabled(session: Session) -> list[Schedule]:
    """Return the enabled schedules, soonest due first."""
    query = select(SCHEDULES).where(SCHEDULES.c.enabled, SCHEDULES.c.next_run_at.is_not(None))
    return read(session, Schedule, query.order_by(SCHEDULES.c.next_run_at, SCHEDULES.c.id))


def advance(
    session: Session,
    schedule: str,
    revision: int,
    next_run_at: datetime,
    *,
    ran_at: datetime | None = None,
    job_id: str | None = None,
) -> bool:
    """Set when a schedule is due, and which job it posted, if any, unless it has changed since the given revision.

    Of several concurrent callers, one gets True. Post the job first, in the same transaction, and roll back if this
    returns False.
    """
    values = {"next_run_at": next_run_at, "revision": revision + 1}
    fired = {} if job_id is None else {"last_run_at": ran_at, "last_job_id": job_id}
    at_revision = (SCHEDULES.c.id == schedule, SCHEDULES.c.revision == revision)
    change = SCHEDULES.update().where(*at_revision).values(values | fired)
    return session.execute(change.returning(SCHEDULES.c.id)).one_or_none() is not None


@contextmanager
def _name_of_its_own(session: Session, new: NewSchedule, own: str | None = None) -> Iterator[None]:
    if not new.name.strip():
        raise InvalidInput("A schedule needs a name: give one.")
    try:
        with session.begin_nested():
            yield
    except IntegrityError as error:
        owner = session.scalar(select(SCHEDULES.c.id).where(SCHEDULES.c.name == new.name))
        if owner in (None, own):
            raise
        raise ScheduleConflict(f"Schedule {owner} has the name {new.name!r} already: choose another.") from error
