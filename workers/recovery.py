"""What the scheduler recovers: jobs whose worker, message or last child is gone; and the uploads that it deletes."""

from datetime import timedelta

import structlog

from records import jobs
from workers import uploads
from workers.tools import ServiceTools
from workers.worker import resume_parent

log = structlog.get_logger()

RESEND_AFTER = timedelta(seconds=30)


def recover(tools: ServiceTools) -> int:
    """Queue lost jobs again, send them, and return how many there were. Uploads that no job wants are deleted."""
    now = tools.clock.wall()
    with tools.database.transaction() as session:
        expired = jobs.expired(session, now)
        lost = [jobs.get(session, job) for job in expired]
    for job in lost:
        log.warning("job.lost", job=job.id, attempt=job.attempt, status=job.status)
    with tools.database.reading() as session:
        unsent = jobs.unsent(session, now - RESEND_AFTER)
        waiting = jobs.list_jobs(session, status="waiting")
    queued = {job.id: job for job in [*lost, *unsent] if job.status == "queued"}
    for job in queued.values():
        tools.sender.send(job)
    parents = {job.parent_id for job in lost if job.parent_id is not None} | {job.id for job in waiting}
    for parent in parents:
        resume_parent(tools, parent)
    uploads.sweep(tools.database, tools.settings.data)
    return len(queued)
