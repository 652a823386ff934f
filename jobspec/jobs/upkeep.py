"""Jobs that maintain the database and notify receivers."""

from datetime import timedelta
from typing import Literal

from jobspec.fields import RequestModel
from jobspec.jobs.base import CHECK, DELIVERY, PRUNE, JobRequest


class CheckParams(RequestModel):
    """No parameters: all records are checked."""


class CheckJob(JobRequest, authority=CHECK, time_limit=timedelta(hours=4)):
    """Check every page of the database, every reference and every row with a checksum. If something is damaged, the job
    fails and names it."""

    kind: Literal["check"]
    params: CheckParams


class PruneParams(RequestModel):
    """No parameters: the retention rules are settings of the service."""


class PruneJob(JobRequest, authority=PRUNE, time_limit=timedelta(hours=4)):
    """Delete records past their retention. Repeating it deletes nothing."""

    kind: Literal["prune"]
    params: PruneParams


class DeliveryParams(RequestModel):
    """No parameters: all that is due is decided and sent."""


class DeliveryJob(JobRequest, authority=DELIVERY, queue="delivery", time_limit=timedelta(minutes=10)):
    """Carry out what forecasters decided on alerts, and send changes to their receivers. Only the service posts it."""

    kind: Literal["delivery"] = "delivery"
    params: DeliveryParams = DeliveryParams()
