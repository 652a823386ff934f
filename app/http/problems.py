"""Errors as RFC 9457 problem details: a stable type for each kind, and a message with the remedy.

Each kind is a class: its docstring is its meaning, `status` its HTTP status, `remedy` the way to mend it.
"""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from app.http.base_schema import Model
from hydrology.base.errors import InvalidInput, NotFound, Problem
from records.alerts.deliveries import UnknownDelivery
from records.basins.regions import OutsideRegion
from records.database.connections import DatabaseProblem, StorageFull
from records.database.retention import Gone
from records.jobs.jobs import UnknownJob
from records.runs.run_types import UnknownRun
from records.weather.weather_issues import UnknownWeather

MEDIA_TYPE = "application/problem+json"


class Unauthorized(Problem):
    """The request needs a key."""

    kind = "key-needed"
    status = 401
    remedy = "Send a key: `Authorization: Bearer TOKEN`. `freshet keys make NAME` makes one."


class Forbidden(Problem):
    """The key may not do that."""

    kind = "scope-too-small"
    status = 403
    remedy = (
        "Use a key of a larger scope (`freshet keys make NAME --scope admin`), or the key that created the resource."
    )


class HostNotAllowed(Problem):
    """The Host header names another service: an administrator can add the name to FRESHET_ALLOWED_HOSTS."""

    status = 400
    remedy = "Use the address that the service listens on, or add the name to FRESHET_ALLOWED_HOSTS."


class RepeatedHeader(Problem):
    """A header that may stand once was sent more than once."""

    status = 400
    remedy = "Send the header once; see that no proxy or client library adds another."


class Changed(Problem):
    """The resource has changed since the `If-Match` header's version: read it again and repeat the change."""

    kind = "precondition-failed"
    status = 412
    remedy = "Read the resource again, and send its new `ETag` as `If-Match`."


class TooLarge(Problem):
    """The body exceeds this address's limit."""

    status = 413
    remedy = "Send less at once: in several requests, or as an ingest job that reads files."


class TooManyRequests(Problem):
    """The address or the key has reached its rate limit: wait for the seconds given in `Retry-After`."""

    status = 429
    remedy = "Wait for the number of seconds in `Retry-After`."

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence)
        self.seconds = seconds


class Overloaded(Problem):
    """The service answers as many requests as it can, and this one's turn did not come in time."""

    status = 503
    seconds = 5
    remedy = "Wait for the number of seconds in `Retry-After`. If it lasts, ask the service's administrator."

    def __init__(self) -> None:
        super().__init__("The service answers as many requests as it can: send this one again in some seconds.")


class NotAcceptable(Problem):
    """The address does not answer in the requested format: `detail` lists its formats."""

    status = 406
    remedy = "Request a format listed in `detail`, with `Accept` or `format=`."


class MethodNotAllowed(Problem):
    """The address does not support the method: `Allow` lists the supported ones."""

    status = 405
    remedy = "Use a method listed in `Allow`; /docs lists the operations of every address."

    def __init__(self, sentence: str, allowed: Sequence[str]) -> None:
        super().__init__(sentence)
        self.allowed = allowed


class NoSuchRange(NotFound):
    """The file ends before the range of bytes that was asked for."""

    kind = "range-not-satisfiable"
    status = 416
    remedy = "Ask for bytes within the file: `Content-Range` states its length."

    def __init__(self, length: int) -> None:
        super().__init__(f"The file has {length} bytes: ask for some of them.")
        self.length = length


class UnsupportedMedia(Problem):
    """The body's media type is not supported at this address."""

    kind = "unsupported-media-type"
    status = 415
    remedy = "Send the body in a format listed in `detail`, named in `Content-Type`."


class Internal(Problem):
    """The service failed; its log has the details."""

    remedy = "Report it to the service's administrator: the log has the details."


PRUNED = (UnknownDelivery, UnknownJob, UnknownRun, UnknownWeather)
"""Problems of unknown things that may also have been pruned by retention."""


class Fault(Model):
    """One field of the request that cannot be used."""

    location: str = Field(description="Location of the field: `query`, `path`, `header` or `body`.")
    field: str = Field(description="The field's name.")
    detail: str = Field(description="What is wrong with it.")


class ProblemDetails(Model):
    """An error and its remedy (RFC 9457)."""

    type: str = Field(description="The kind of problem. It never changes: programs may rely on it.")
    title: str = Field(description="The kind in words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong in this case, and how to mend it.")
    instance: str = Field(description="The requested path.")
    errors: list[Fault] = Field(default=[], description="The invalid fields, where the request has any.")


class InvalidRequest(InvalidInput):
    """A parameter is unknown, missing or cannot be used; `errors` names each."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(" ".join(f"{fault.field or fault.location}: {fault.detail.rstrip('.')}." for fault in faults))
        self.faults = list(faults)


def refused(field: str, detail: str, location: str = "query") -> InvalidRequest:
    """Return the error of one field that cannot be used, a query parameter's by default."""
    return InvalidRequest([Fault(location=location, field=field, detail=detail)])


def title_of(kind: str) -> str:
    return kind.replace("-", " ").capitalize()


def meaning_of(problem: type[Problem]) -> str:
    return (problem.__doc__ or "").strip().splitlines()[0]


def documented(*problems: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of an operation's own problems and of those that every operation has."""
    by_status: dict[int | str, list[type[Problem]]] = {}
    gone = (Gone,) if any(problem in PRUNED for problem in problems) else ()
    for problem in (*problems, *gone, InvalidRequest, TooManyRequests, Internal, DatabaseProblem, Overloaded):
        by_status.setdefault(problem.status, []).append(problem)
    return {
        status: {
            "model": ProblemDetails,
            "description": " ".join(f"`{kind.kind}`: {meaning_of(kind)}" for kind in kinds),
            "content": {"application/json": {"examples": {kind.kind: {"value": _example(kind)} for kind in kinds}}},
        }
        for status, kinds in by_status.items()
    }


def documented_writing(*problems: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of an operation that needs a key and takes a body."""
    return documented(Unauthorized, Forbidden, OutsideRegion, TooLarge, StorageFull, *problems)


def details_of(kind: str, status: int, detail: str, path: str, faults: list[Fault] | None) -> ProblemDetails:
    more = {} if faults is None else {"errors": faults}
    return ProblemDetails(
        type=f"/problems/{kind}", title=title_of(kind), status=status, detail=detail, instance=path, **more
    )


def _example(problem: type[Problem]) -> dict[str, Any]:
    faults = None
    if problem is InvalidRequest:
        faults = [Fault(location="query", field="unit", detail="Unknown here: use units, members, format.")]
    detail = meaning_of(problem) if faults is None else str(InvalidRequest(faults))
    details = details_of(problem.kind, problem.status, detail, "/v1/basins/01013500", faults)
    return details.model_dump(exclude_unset=True)
