"""The scheduler: posts due jobs, recovers those whose worker, message or last child is lost, deletes unused uploads."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from itertools import groupby
from operator import attrgetter

import structlog
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period, as_date
from hydrology.base.calendar import day as read_day
from jobspec.jobs.base import GPU
from jobspec.jobs.data import DeliveryJob
from jobspec.kinds import queue_of
from records.access import audit, keys
from records.alerts import dispatch, held_alerts, issue_notices, subscriptions
from records.forecasts import adjustments, completeness, issues
from records.jobs import attempts, jobs, process_heartbeats, queues, schedules
from records.jobs.queues import LastJobUnfinished, TooManyUnfinishedJobs
from records.jobs.schedules import BadCron, next_run
from workers.job_processes.worker import resume_parent
from workers.liveness import ExpiredLeases, dead_workers
from workers.queue import uploads
from workers.queue.enqueue import BrokerAway, WorkerContext

log = structlog.get_logger()


def fire(tools: WorkerContext) -> int:
    """Post a job for every due schedule, and return their number.

    A schedule that was due several times while nothing ran fires once. One that is due later than its rule states,
    because the clock has been set back, is due by its rule. One whose last job is unfinished, or whose key has the
    maximum of unfinished jobs, is skipped until its next instant, with an audit row that has the reason. One whose line
    or time zone cannot be read here is logged, and the others fire.
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
                schedules.advance(session, schedule.id, schedule.revision, following)
    return fired


class _Overtaken(Exception):  # noqa: N818 - not a fault
    """Another scheduler was faster, or the schedule has been changed: the job is rolled back."""


def _post(
    session: Session, schedule: schedules.Schedule, idempotency_key: str, now: datetime, **params: object
) -> jobs.Job:
    new = jobs.NewJob(
        kind=schedule.kind,
        params=schedule.params | params,
        queue=queue_of(schedule.kind, of_service=keys.is_official(session, schedule.key_id)),
        schedule_id=schedule.id,
        idempotency_key=idempotency_key,
        created_by=f"schedule {schedule.name}",
        key_id=schedule.key_id,
    )
    job, _ = jobs.create(session, new, now)
    actor = audit.Actor(f"schedule {schedule.name}", schedule.key_id)
    audit.record(session, actor, "job posted", job.id, now, kind=job.kind)
    return job


def _fire_one(tools: WorkerContext, schedule: schedules.Schedule, now: datetime, following: datetime) -> bool:
    # Not its instant: if the clock is set back, the instant recurs and is due again.
    own = f"schedule {schedule.id} at revision {schedule.revision}"
    try:
        with tools.database.transaction() as session:
            queues.require_last_ended(session, schedule)
            job = _post(session, schedule, own, now)
            queues.require_within_limit(session, job.key_id, tools.settings.unfinished_jobs_per_key)
            fired = schedules.advance(
                session, schedule.id, schedule.revision, ran_at=now, next_run_at=following, job_id=job.id
            )
            if not fired:
                raise _Overtaken
    except _Overtaken:
        return False
    except (TooManyUnfinishedJobs, LastJobUnfinished) as problem:
        log.warning("schedule.skipped", schedule=schedule.name, problem=str(problem), next=following.isoformat())
        with tools.database.transaction() as session:
            if schedules.advance(session, schedule.id, schedule.revision, following):
                actor = audit.Actor(f"schedule {schedule.name}", schedule.key_id)
                reason, then = str(problem), following.isoformat()
                audit.record(session, actor, "schedule skipped", schedule.id, now, reason=reason, next_run_at=then)
                if isinstance(problem, LastJobUnfinished):
                    jobs.note(session, problem.job, f"{reason} It is due next at {then}.", now)
        return False
    log.info("schedule.fired", schedule=schedule.name, job=job.id, next=following.isoformat())
    tools.sender.send(job)
    return True


CYCLE = "daily"
"""The kind of job of a daily cycle."""
LATE_DAYS = 7
"""A schedule of the daily cycle issues what it missed on this many days before today."""


def post_late(tools: WorkerContext) -> bool:
    """Post a late issue of the oldest day that a schedule of the daily cycle missed lately; return whether it did.

    A day has one such job, and one runs at a time, while no cycle is under way.
    """
    if tools.clock.replays:
        return False
    now, today = tools.clock.wall(), tools.clock.today()
    with tools.database.reading() as session:
        cycles = [one for one in schedules.enabled(session) if one.kind == CYCLE]
        if not cycles or jobs.unfinished(session, CYCLE):
            return False
        missed = issues.missed(session, Period(today - LATE_DAYS, today - 1))
        days = [one for one in missed if not jobs.is_posted(session, _late_key(one))]
    due = ((day, schedule) for day in days for schedule in cycles if _was_due(schedule, day))
    day, schedule = next(due, (None, None))
    if day is None or schedule is None:
        return False
    with tools.database.transaction() as session:
        job = _post(session, schedule, _late_key(day), now, day=str(day))
    log.info("schedule.late", schedule=schedule.name, job=job.id, day=str(day))
    tools.sender.send(job)
    return True


def _late_key(day: Day) -> str:
    return f"late issue of {day}"


def _was_due(schedule: schedules.Schedule, day: Day) -> bool:
    """Return whether a schedule fires on a day, after its content was last changed."""
    begins = datetime.combine(as_date(day), time(), UTC) - timedelta(seconds=1)
    try:
        fires = next_run(schedule.cron, schedule.timezone, max(begins, schedule.updated_at))
    except BadCron:  # `fire` logs it
        return False
    return bool(read_day(fires.date()) == day)


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


def watch_issue(tools: WorkerContext) -> bool:
    """Store a notice and its deliveries if the issue of the day is not complete at its stated time, or is so again.
    Return whether it did."""
    now, stated = tools.clock.now(), tools.settings.issues_complete_by
    if stated is None or tools.clock.replays:
        return False
    with tools.database.for_public().reading() as session:
        notice = completeness.due(session, now, stated)
    if notice is None:
        return False
    with tools.database.transaction() as session:
        receivers = [one.id for one in subscriptions.active(session, "issues", now)]
        new = issue_notices.store(session, notice, receivers, now)
    log.info("issue.noticed", day=str(notice.day), causes=notice.causes, receivers=len(receivers))
    return new


RESEND_AFTER = timedelta(seconds=10)
"""Maximum time of a message from the broker to the worker that claims its job."""


def recover(tools: WorkerContext, leases: ExpiredLeases) -> None:
    """Queue lost jobs again, resend lost messages, and delete unused uploads."""
    now = tools.clock.wall()
    lost = _taken(tools, leases, now)
    with tools.database.reading() as session:
        unsent, sent = queues.unsent(session), queues.sent(session)
        waiting = jobs.list_jobs(session, status="waiting")
    with suppress(BrokerAway):
        for job in [*unsent, *_without_message(tools, sent, now)]:
            tools.sender.require_sent(job)
    _give_up_gpu(tools, sent, now)
    parents = {job.parent_id for job in lost if job.parent_id is not None} | {job.id for job in waiting}
    for parent in parents:
        resume_parent(tools, parent)
    uploads.sweep(tools.database, tools.settings.data)


def _give_up_gpu(tools: WorkerContext, sent: Sequence[jobs.Job], now: datetime) -> None:
    """Fail trainings that no worker with a GPU takes within two leases: what posted them continues on CPUs."""
    patience = timedelta(seconds=2 * tools.settings.lease_seconds)
    late = [job for job in sent if job.queue == GPU and job.sent_at is not None and now - job.sent_at > patience]
    if not late:
        return
    with tools.database.transaction() as session:
        if process_heartbeats.gpu_workers(process_heartbeats.live_processes(session)):
            return
        for job in late:
            detail = "No worker with a GPU that can be used takes the job."
            attempts.give_up(session, job, {"kind": attempts.NO_GPU_WORKER, "detail": detail}, now)
            log.warning("job.no_gpu", job=job.id)


def _taken(tools: WorkerContext, leases: ExpiredLeases, now: datetime) -> list[jobs.Job]:
    lease = timedelta(seconds=tools.settings.lease_seconds)
    with dead_workers(tools.settings.data) as dead:
        for name in dead:
            with tools.database.transaction() as session:
                process_heartbeats.remove(session, name)
        with tools.database.reading() as session:
            lost = attempts.running_at(session, dead)
            lost += leases.ended(attempts.lapsed(session, now, lease))
        taken = []
        for job in lost:
            with tools.database.transaction() as session:
                if (after := attempts.take(session, job, now)) is not None:
                    log.warning("job.lost", job=job.id, attempt=job.attempt, worker=job.worker, status=after.status)
                    taken.append(after)
        return taken


def _without_message(tools: WorkerContext, sent: Sequence[jobs.Job], now: datetime) -> list[jobs.Job]:
    """Return jobs without a message: per queue as many as messages are missing, earliest sent first.

    The broker does not report which messages it lost, but sending a job once too often does no harm, and a queue never
    gets more messages than it has jobs.
    """
    lost = []
    for queue, group in groupby(sorted(sent, key=attrgetter("queue")), attrgetter("queue")):
        queued = list(group)
        # What is sent later than now was sent before the clock was set back.
        if old := [job for job in queued if not timedelta(0) <= now - (job.sent_at or now) <= RESEND_AFTER]:
            missing = len(queued) - tools.sender.messages(queue)
            lost += old[: max(0, missing)]
    return lost
