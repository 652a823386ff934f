"""Jobs that look after what is kept, and tell receivers."""

from datetime import timedelta
from typing import Literal

from jobspec.authority import CHECK, DELIVERY, PRUNE
from jobspec.fields import RequestModel
from jobspec.jobs.base import JobRequest


class CheckParams(RequestModel):
    """Nothing: all that is kept is checked."""


class CheckJob(JobRequest):
    """Check every page of the database, every reference and every row that has a checksum. Where something is damaged
    the job fails and names it."""

    time_limit = timedelta(hours=4)
    authority = CHECK

    kind: Literal["check"]
    params: CheckParams


class PruneParams(RequestModel):
    """Nothing: the rules are settings of the service."""


class PruneJob(JobRequest):
    """Delete what is older than the rules of retention keep it. Asked again, it deletes nothing."""

    time_limit = timedelta(hours=4)
    authority = PRUNE

    kind: Literal["prune"]
    params: PruneParams


class DeliveryParams(RequestModel):
    """Nothing: all deliveries that are due are sent."""


class DeliveryJob(JobRequest):
    """Send the alert changes that receivers wait for. Only the service posts it."""

    queue = "delivery"
    time_limit = timedelta(minutes=10)
    authority = DELIVERY

    kind: Literal["delivery"] = "delivery"
    params: DeliveryParams = DeliveryParams()
