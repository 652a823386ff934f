"""Posts the job that sends alert changes, as soon as one is due."""

import structlog

from jobspec.jobs.upkeep import DeliveryJob
from records.alerts import deliveries
from records.jobs import jobs
from workers.service_context import ServiceTools

log = structlog.get_logger()


def post_delivery(tools: ServiceTools) -> bool:
    """Post a `delivery` job if a delivery is due and none is under way. Return whether it did.

    Two schedulers may each post one: a delivery still has only one sender at a time.
    """
    now = tools.clock.wall()
    with tools.database.reading() as session:
        if not deliveries.is_any_due(session, now) or jobs.unfinished(session, DeliveryJob().kind):
            return False
    request = DeliveryJob()
    new = jobs.NewJob(kind=request.kind, params=request.stored(), queue=request.queue, created_by="scheduler")
    with tools.database.transaction() as session:
        job, _ = jobs.create(session, new, now)
    log.info("delivery.posted", job=job.id)
    tools.sender.send(job)
    return True
