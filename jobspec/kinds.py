"""The kinds of job that the service runs, and their parameters: `KINDS` is the one list of them."""

from collections.abc import Iterable, Iterator, Mapping
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

from pydantic import Field, ValidationError

from hydrology.base.calendar import Day, Period
from hydrology.base.errors import InvalidInput
from jobspec.extensions import extensions
from jobspec.fields import RequestModel, faults, shown
from jobspec.jobs import data, forecasting, judging, training
from jobspec.jobs.base import SERVICE, JobRequest, Queue


class InvalidRequest(InvalidInput):
    """A field is unknown, missing or cannot be used."""


def _by_kind(models: Iterable[type[JobRequest]]) -> dict[str, type[JobRequest]]:
    return {get_args(model.model_fields["kind"].annotation)[0]: model for model in models}


def _of_core() -> Iterator[type[JobRequest]]:
    for module in (data, forecasting, training, judging):
        for model in vars(module).values():
            if isinstance(model, type) and issubclass(model, JobRequest) and model.__module__ == module.__name__:
                yield model


_CORE = _by_kind(_of_core())
_OF_EXTENSIONS = _by_kind(extension.load(model) for extension in extensions() for model in extension.job_kinds)
KINDS: Mapping[str, type[JobRequest]] = _CORE | _OF_EXTENSIONS
REQUESTABLE = {kind: model for kind, model in KINDS.items() if model.model_fields["kind"].is_required()}
"""The kinds that people can request: those whose `kind` has no default."""
if TYPE_CHECKING:
    AnyJobRequest = JobRequest
else:
    AnyJobRequest = Annotated[reduce(or_, REQUESTABLE.values()), Field(discriminator="kind")]


def handlers_of_extensions() -> dict[str, Any]:
    """Return the handlers of the kinds of extensions."""
    return {
        kind: extension.load(handler)
        for extension in extensions()
        for model, handler in extension.job_kinds.items()
        for kind in _by_kind([extension.load(model)])
    }


def read(kind: str, params: object, kinds: Mapping[str, type[JobRequest]] = KINDS) -> JobRequest:
    """Read a job request from its kind and its params."""
    if kind not in kinds:
        raise InvalidRequest(f"There is no kind of job {shown(kind)}: choose one of {', '.join(kinds)}.")
    try:
        return kinds[kind].model_validate({"kind": kind, "params": params})
    except ValidationError as error:
        raise InvalidRequest(f"The {kind} is not possible: {faults(error, {'params': params})}.") from None


def queue_of(kind: str, *, of_service: bool = False) -> Queue:
    """Return the queue of a kind of job. The default queue for an unknown kind, which fails there."""
    job = KINDS.get(kind, JobRequest)
    return SERVICE if of_service and job.operational else job.queue


Record = Literal["basin", "version", "feed", "weather", "weather model", "product"]

RECORDS: Mapping[str, Record] = {
    "basin": "basin",
    "basins": "basin",
    "version": "version",
    "versions": "version",
    "parent": "version",
    "feed": "feed",
    "feeds": "feed",
    "weather_id": "weather",
    "weather": "weather model",
    "product": "product",
    "from_": "product",
    "to": "product",
    "of": "product",
}
"""The kind of record that a parameter names. All kinds of job use a name alike, but for `BRINGING`."""
BRINGING = ("ingest", "upload", "weather", "basin", "pretrained")
"""Kinds of job that name what they bring, or what may follow them."""
FETCHING = ("fetch", "backfill")
"""Kinds of job whose days may lie outside the records, because they fetch them."""


class Parameter(NamedTuple):
    """A parameter that is set; `field` is its path within the params, as requests write it."""

    field: str
    name: str
    value: Any

    @property
    def is_of_days(self) -> bool:
        """Whether it is a day or a period."""
        return isinstance(self.value, Day | Period)


def named(params: RequestModel, prefix: str = "") -> Iterator[Parameter]:
    """Yield the parameters that name records or days, those of nested ones too, each of a list by itself."""
    for name, info in type(params).model_fields.items():
        value, field = getattr(params, name), prefix + (info.alias or name)
        if isinstance(value, RequestModel):
            yield from named(value, f"{field}.")
            continue
        several = isinstance(value, list)
        for at, part in enumerate(value if several else [value]):
            parameter = Parameter(f"{field}.{at}" if several else field, name, part)
            if parameter.is_of_days or (name in RECORDS and part is not None):
                yield parameter


def subject(request: JobRequest) -> Mapping[str, Any]:
    """Return the records and days that a request names, without how it is to be computed."""
    return {parameter.field: parameter.value for parameter in named(request.params)}
