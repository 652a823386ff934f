"""The kinds of job that the service runs, and their parameters. `KINDS` is the one list of them.

A field that a request leaves out is left out of the stored job too, and gets its default when the job runs. Whatever
needs the database (for example whether a basin is known) is checked when the job runs.
"""

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, get_args

from pydantic import Field, ValidationError

from hydrology.base.errors import InvalidInput
from jobspec.extensions import extensions
from jobspec.faults import faults, shown
from jobspec.jobs.base import SERVICE, JobRequest, Queue
from jobspec.jobs.data import BackfillJob, BasinJob, BridgeJob, ClimateJob, FetchJob, IngestJob, UploadJob, WeatherJob
from jobspec.jobs.forecasting import DailyJob, ForecastJob, ReplayJob, VolumesJob, WhatIfJob
from jobspec.jobs.judging import CalibrationJob, ComparisonJob, EvaluationJob, LevelsJob, ReforecastJob, VerificationJob
from jobspec.jobs.training import MemberJob, MembersJob, PretrainedJob, RetrainingJob, TrainingJob
from jobspec.jobs.upkeep import CheckJob, DeliveryJob, PruneJob


class InvalidRequest(InvalidInput):
    """A field is unknown, missing or cannot be used."""

    kind = "invalid-request"


def _by_kind(models: Iterable[type[JobRequest]]) -> dict[str, type[JobRequest]]:
    return {get_args(model.model_fields["kind"].annotation)[0]: model for model in models}


REQUESTABLE: Mapping[str, type[JobRequest]] = _by_kind(
    (
        IngestJob,
        FetchJob,
        BackfillJob,
        BridgeJob,
        DailyJob,
        ReplayJob,
        ClimateJob,
        TrainingJob,
        RetrainingJob,
        ForecastJob,
        WhatIfJob,
        VolumesJob,
        EvaluationJob,
        CalibrationJob,
        ReforecastJob,
        VerificationJob,
        LevelsJob,
        ComparisonJob,
        PretrainedJob,
        *(extension.load(model) for extension in extensions() for model in extension.job_kinds),
        CheckJob,
        PruneJob,
    )
)
"""The kinds that people can request."""
if TYPE_CHECKING:
    AnyJobRequest = JobRequest
else:
    AnyJobRequest = Annotated[reduce(or_, REQUESTABLE.values()), Field(discriminator="kind")]
KINDS: Mapping[str, type[JobRequest]] = {
    **REQUESTABLE,
    **_by_kind((MemberJob, MembersJob, BasinJob, UploadJob, WeatherJob, DeliveryJob)),
}


def handlers_of_extensions() -> dict[str, Any]:
    """Return the handlers of the kinds of extensions."""
    return {
        kind: extension.load(handler)
        for extension in extensions()
        for model, handler in extension.job_kinds.items()
        for kind in _by_kind([extension.load(model)])
    }


def read(kind: str, params: object, kinds: Mapping[str, type[JobRequest]] = KINDS) -> JobRequest:
    """Read a job request from its kind and its params.

    Args:
        kinds: the kinds to choose from.

    Raises:
        InvalidRequest: there is no such kind, or a field is invalid; the message names it.
    """
    if kind not in kinds:
        raise InvalidRequest(f"There is no kind of job {shown(kind)}: choose one of {', '.join(kinds)}.")
    try:
        return kinds[kind].model_validate({"kind": kind, "params": params})
    except ValidationError as error:
        raise InvalidRequest(f"The {kind} is not possible: {faults(error, {'params': params})}.") from None


def queue_of(kind: str, *, of_service: bool = False) -> Queue:
    """Return the queue of a kind of job. The default queue for an unknown kind, which fails there.

    Args:
        of_service: whether the job belongs to the service, not to an operator.
    """
    job = KINDS.get(kind, JobRequest)
    return SERVICE if of_service and job.operational else job.queue
