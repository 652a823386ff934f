"""Cron: when a schedule fires next, and making its jobs when it is due."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import structlog
from croniter import CroniterError, croniter

from hydrology.errors import InvalidInput
from records import jobs, schedules
from workers.job import Tools

log = structlog.get_logger()


def next_run(cron: str, timezone: str, after: datetime) -> datetime:
    """Return the first instant after another at which a cron line fires, in UTC.

    Raises:
        InvalidInput: the line or the time zone cannot be read.
    """
    try:
        zone = ZoneInfo(timezone)
    except (ValueError, OSError) as error:
        raise InvalidInput(f"{timezone!r} is not a time zone: write one such as America/Denver or UTC.") from error
    try:
        following = croniter(cron, after.astimezone(zone)).get_next(datetime)
    except CroniterError as error:
        raise InvalidInput(
            f"{cron!r} is not a cron line ({error}): write minute, hour, day, month, weekday, such as 30 6 * * *."
        ) from error
    assert isinstance(following, datetime)
    return following.astimezone(UTC)


def fire(tools: Tools) -> int:
    """Make a job of every schedule that is due, and return how many.

    A schedule that was due several times while nothing ran fires once.
    """
    now = tools.clock.wall()
    with tools.database.reading() as session:
        due = schedules.due(session, now)
    return sum(_fire_one(tools, schedule, now) for schedule in due)


class _Overtaken(Exception):  # noqa: N818 - not a fault
    """Another scheduler was quicker, or the schedule was changed meanwhile: its job is rolled back."""


def _fire_one(tools: Tools, schedule: schedules.Schedule, now: datetime) -> bool:
    assert schedule.next_run_at is not None
    new = jobs.NewJob(
        kind=schedule.kind,
        params=schedule.params,
        queue="default",
        schedule_id=schedule.id,
        idempotency_key=f"schedule {schedule.id} at {schedule.next_run_at.isoformat()}",
        created_by=f"schedule {schedule.name}",
    )
    following = next_run(schedule.cron, schedule.timezone, now)
    try:
        with tools.database.transaction() as session:
            job, _ = jobs.create(session, new, now)
            fired = schedules.advance(
                session, schedule.id, schedule.revision, ran_at=now, next_run_at=following, job_id=job.id
            )
            if not fired:
                raise _Overtaken
    except _Overtaken:
        return False
    log.info("schedule.fired", schedule=schedule.name, job=job.id, next=following.isoformat())
    tools.sender.send(job)
    return True
