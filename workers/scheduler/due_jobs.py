"""Posts due jobs: those of schedules, and the one that sends alert changes."""

from dataclasses import replace
from datetime import datetime

import structlog

from jobspec.jobs.upkeep import DeliveryJob
from jobspec.kinds import queue_of
from records.access import audit, keys
from records.adjustments import adjustments
from records.alerts import dispatch, held_alerts
from records.jobs import jobs, queues, schedules
from records.jobs.cron import BadCron, next_run
from records.jobs.queues import TooManyUnfinishedJobs
from workers.service_context import WorkerContext

log = structlog.get_logger()


def fire(tools: WorkerContext) -> int:
    """Post a job for every due schedule, and return their number.

    A schedule that was due several times while nothing ran fires once. One that is due later than its rule states,
    because the clock has been set back, is due by its rule. One whose key has the maximum of unfinished jobs is skipped
    until its next instant, with an audit row that has the reason. One whose line or time zone cannot be read here is
    logged, and the others fire.
    """
    now = tools.clock.wall()
    with tools.database.reading() as session:
        enabled = schedules.enabled(session)
    fired = 0
    for schedule in enabled:
        assert schedule.next_run_at is not None
        try:
            following = next_run(schedule.cron, schedule.timezone, now)
        except BadCron as problem:  # such as a time zone that another machine knew
            log.error("schedule.unreadable", schedule=schedule.name, problem=str(problem))
            continue
        if schedule.next_run_at <= now:
            fired += _fire_one(tools, schedule, now, following)
        elif schedule.next_run_at > following:
            log.warning("schedule.clock", schedule=schedule.name, was=schedule.next_run_at.isoformat())
            with tools.database.transaction() as session:
                schedules.set_next(session, schedule.id, schedule.revision, following)
    return fired


class _Overtaken(Exception):  # noqa: N818 - not a fault
    """Another scheduler was faster, or the schedule has been changed: the job is rolled back."""


def _fire_one(tools: WorkerContext, schedule: schedules.Schedule, now: datetime, following: datetime) -> bool:
    new = jobs.NewJob(
        kind=schedule.kind,
        params=schedule.params,
        queue=queue_of(schedule.kind),  # until its owner is known
        schedule_id=schedule.id,
        # Not its instant: if the clock is set back, the instant recurs and is due again.
        idempotency_key=f"schedule {schedule.id} at revision {schedule.revision}",
        created_by=f"schedule {schedule.name}",
        key_id=schedule.key_id,
    )
    try:
        with tools.database.transaction() as session:
            of_service = keys.is_official(session, new.key_id)
            job, _ = jobs.create(session, replace(new, queue=queue_of(new.kind, of_service=of_service)), now)
            queues.require_within_limit(session, job.key_id, tools.settings.unfinished_jobs_per_key)
            actor = audit.Actor(f"schedule {schedule.name}", schedule.key_id)
            audit.record(session, actor, "job posted", job.id, now, kind=job.kind)
            fired = schedules.advance(
                session, schedule.id, schedule.revision, ran_at=now, next_run_at=following, job_id=job.id
            )
            if not fired:
                raise _Overtaken
    except _Overtaken:
        return False
    except TooManyUnfinishedJobs as problem:
        log.warning("schedule.skipped", schedule=schedule.name, problem=str(problem), next=following.isoformat())
        with tools.database.transaction() as session:
            if schedules.set_next(session, schedule.id, schedule.revision, following):
                actor = audit.Actor(f"schedule {schedule.name}", schedule.key_id)
                reason, then = str(problem), following.isoformat()
                audit.record(session, actor, "schedule skipped", schedule.id, now, reason=reason, next_run_at=then)
        return False
    log.info("schedule.fired", schedule=schedule.name, job=job.id, next=following.isoformat())
    tools.sender.send(job)
    return True


def post_delivery(tools: WorkerContext) -> bool:
    """Post a `delivery` job if a delivery or a decision on alerts is due, and none is under way. Return whether it did.

    Two schedulers may each post one: a delivery still has only one sender at a time.
    """
    now = tools.clock.wall()
    with tools.database.reading() as session:
        due = (
            dispatch.is_any_due(session, now)
            or held_alerts.is_any_due(session, now)
            or adjustments.is_any_undecided(session)
        )
        if not due or jobs.unfinished(session, DeliveryJob().kind):
            return False
    request = DeliveryJob()
    new = jobs.NewJob(kind=request.kind, params=request.stored(), queue=request.queue, created_by="scheduler")
    with tools.database.transaction() as session:
        job, _ = jobs.create(session, new, now)
    log.info("delivery.posted", job=job.id)
    tools.sender.send(job)
    return True
