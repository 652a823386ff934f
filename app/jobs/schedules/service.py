"""Checks requests about schedules and builds their answers."""

from datetime import datetime

from sqlalchemy.orm import Session

from app.http.base_schema import why_null
from app.http.conditional import holds
from app.http.problems import Changed
from app.jobs.schedules.schemas import NewSchedule, Schedule, ScheduledJob
from records.access.keys import Key
from records.database.base import JsonObject
from records.jobs import schedules
from records.jobs.cron import next_run

_SAME = ("id", "name", "cron", "timezone", "enabled", "next_run_at", "last_run_at", "revision")
_WHY = {
    "next_run_at": "It is not enabled.",
    "last_run_at": "It has not fired yet.",
    "last_job": "It has posted no job that is still stored.",
    "key": "It was created on the command line: its jobs run with the permissions of the service.",
}


def due(new: NewSchedule, key: Key, at: datetime) -> schedules.NewSchedule:
    """Return a key's schedule for storage, with its next time after `at`.

    Raises:
        BadCron: the cron line or the time zone cannot be read, even if it is not enabled yet.
    """
    following = next_run(new.cron, new.timezone, at)
    return schedules.NewSchedule(
        name=new.name,
        kind=new.job.kind,
        params=new.job.stored(),
        cron=new.cron,
        timezone=new.timezone,
        enabled=new.enabled,
        next_run_at=following if new.enabled else None,
        key_id=key.id,
    )


def seen(session: Session, schedule: str, if_match: str) -> int:
    """Return the revision of a schedule that the client has seen.

    Raises:
        UnknownSchedule: there is none of that id.
        Changed: it is at another revision now.
    """
    saved = schedules.get(session, schedule)
    if not holds(if_match, tag(saved.revision)):
        raise Changed(f"Schedule {schedule} is at revision {saved.revision} now: read it again and repeat the change.")
    return saved.revision


def tag(revision: int) -> str:
    """Return the entity tag of a revision."""
    return f'"{revision}"'


def answer(schedule: schedules.Schedule, key: Key) -> Schedule:
    """Return the parts of a schedule visible to `key`."""
    fields = {name: getattr(schedule, name) for name in (*_SAME, "created_at", "updated_at")}
    fields |= {"last_job": schedule.last_job_id, "key": schedule.key_id}
    missing = why_null(fields, _WHY)
    params: JsonObject | None = schedule.params
    if not key.is_admin:
        params, missing["job.params"] = None, "Shown to an admin."
    return Schedule(**fields, job=ScheduledJob(kind=schedule.kind, params=params), missing=missing)
