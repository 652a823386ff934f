"""Recovers jobs whose worker, message or last child is lost, and deletes unused uploads."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter

import structlog

from jobspec.jobs.base import GPU
from records.jobs import jobs, process_heartbeats, queues, retries
from workers.job_leases import ExpiredLeases
from workers.job_processes.worker import resume_parent
from workers.process_liveness import dead_workers
from workers.queue import uploads
from workers.queue.enqueue import BrokerAway
from workers.service_context import WorkerContext

log = structlog.get_logger()

RESEND_AFTER = timedelta(seconds=10)
"""Maximum time of a message from the broker to the worker that claims its job."""


def recover(tools: WorkerContext, leases: ExpiredLeases) -> None:
    """Queue lost jobs again, resend lost messages, and delete unused uploads.

    Args:
        leases: leases as seen before.
    """
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
    """Fail trainings that no worker with a GPU takes: what posted them continues on CPUs.

    A worker that is started again is waited for as long as two leases.
    """
    patience = timedelta(seconds=2 * tools.settings.lease_seconds)
    late = [job for job in sent if job.queue == GPU and job.sent_at is not None and now - job.sent_at > patience]
    if not late:
        return
    with tools.database.transaction() as session:
        if process_heartbeats.gpu_workers(process_heartbeats.live_processes(session)):
            return
        for job in late:
            detail = "No worker with a GPU that can be used takes the job."
            retries.give_up(session, job, {"kind": retries.NO_GPU_WORKER, "detail": detail}, now)
            log.warning("job.no_gpu", job=job.id)


def _taken(tools: WorkerContext, leases: ExpiredLeases, now: datetime) -> list[jobs.Job]:
    """Take the jobs of lost workers from them."""
    lease = timedelta(seconds=tools.settings.lease_seconds)
    with dead_workers(tools.settings.data) as dead:
        for name in dead:
            with tools.database.transaction() as session:
                process_heartbeats.remove(session, name)
        with tools.database.reading() as session:
            lost = retries.running_at(session, dead)
            lost += leases.ended(retries.lapsed(session, now, lease))
        taken = []
        for job in lost:
            with tools.database.transaction() as session:
                if (after := retries.take(session, job, now)) is not None:
                    log.warning("job.lost", job=job.id, attempt=job.attempt, worker=job.worker, status=after.status)
                    taken.append(after)
        return taken


def _without_message(tools: WorkerContext, sent: Sequence[jobs.Job], now: datetime) -> list[jobs.Job]:
    """Return jobs without a message: per queue as many as messages are missing, earliest sent first.

    The broker does not report which messages it lost, but sending a job once too often does no harm, and a queue never
    gets more messages than it has jobs.

    Raises:
        BrokerAway: it does not report its number of messages.
    """
    lost = []
    for queue, group in groupby(sorted(sent, key=attrgetter("queue")), attrgetter("queue")):
        queued = list(group)
        if old := [job for job in queued if not _is_on_its_way(job, now)]:
            missing = len(queued) - tools.sender.messages(queue)
            lost += old[: max(0, missing)]
    return lost


def _is_on_its_way(job: jobs.Job, now: datetime) -> bool:
    assert job.sent_at is not None
    return timedelta(0) <= now - job.sent_at <= RESEND_AFTER  # later than now: the clock was set back
