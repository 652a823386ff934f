"""What the scheduler mends: jobs whose worker is gone, whose message was lost, whose children are all done."""

from datetime import timedelta

import structlog

from records import jobs
from workers.tools import ServiceTools
from workers.worker import resume_parent

log = structlog.get_logger()

RESEND_AFTER = timedelta(seconds=30)


def recover(tools: ServiceTools) -> int:
    """Put back what was lost, send it again, and return how many jobs that were."""
    now = tools.clock.wall()
    with tools.database.transaction() as session:
        expired = jobs.expired(session, now)
        lost = [jobs.get(session, job) for job in expired]
    for job in lost:
        log.warning("job.lost", job=job.id, attempt=job.attempt, status=job.status)
    with tools.database.reading() as session:
        unsent = jobs.unsent(session, now - RESEND_AFTER)
        waiting = jobs.list_jobs(session, status="waiting")
    again = {job.id: job for job in [*lost, *unsent] if job.status == "queued"}
    for job in again.values():
        tools.sender.send(job)
    parents = {job.parent_id for job in lost if job.parent_id is not None} | {job.id for job in waiting}
    for parent in parents:
        resume_parent(tools, parent)
    return len(again)
