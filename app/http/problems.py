"""Errors as RFC 9457 problem details: a stable type for each kind, and a message with the remedy.

Each kind is a class: its docstring is its meaning, `status` its HTTP status, `remedy` the way to mend it.
"""

from collections.abc import Mapping, Sequence
from http import HTTPMethod, HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount

from app.http.base_schema import Model
from app.http.request_ids import shown_path
from hydrology.base.errors import InvalidInput, Problem
from jobspec.faults import message, path
from records.alerts.deliveries import UnknownDelivery
from records.database.engine import DatabaseProblem, StorageFull, is_full
from records.database.retention import Gone
from records.jobs.jobs import UnknownJob
from records.runs.runs import UnknownRun
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

    kind = "host-not-allowed"
    status = 400
    remedy = "Use the address that the service listens on, or add the name to FRESHET_ALLOWED_HOSTS."


class Changed(Problem):
    """The resource has changed since the `If-Match` header's version: read it again and repeat the change."""

    kind = "precondition-failed"
    status = 412
    remedy = "Read the resource again, and send its new `ETag` as `If-Match`."


class TooLarge(Problem):
    """The body exceeds this address's limit."""

    kind = "too-large"
    status = 413
    remedy = "Send less at once: in several requests, or as an ingest job that reads files."


class TooManyRequests(Problem):
    """The address or the key has reached its rate limit: wait for the seconds given in `Retry-After`."""

    kind = "too-many-requests"
    status = 429
    remedy = "Wait for the number of seconds in `Retry-After`."

    def __init__(self, sentence: str, seconds: int) -> None:
        super().__init__(sentence)
        self.seconds = seconds


class NotAcceptable(Problem):
    """The address does not answer in the requested format: `detail` lists its formats."""

    kind = "not-acceptable"
    status = 406
    remedy = "Request a format listed in `detail`, with `Accept` or `format=`."


class MethodNotAllowed(Problem):
    """The address does not support the method: `Allow` lists the supported ones."""

    kind = "method-not-allowed"
    status = 405
    remedy = "Use a method listed in `Allow`; /docs lists the operations of every address."

    def __init__(self, sentence: str, allowed: Sequence[str]) -> None:
        super().__init__(sentence)
        self.allowed = allowed


class UnsupportedMedia(Problem):
    """The body's media type is not supported at this address."""

    kind = "unsupported-media-type"
    status = 415
    remedy = "Send the body in a format listed in `detail`, named in `Content-Type`."


class Internal(Problem):
    """The service failed; its log has the details."""

    kind = "internal"
    remedy = "Report it to the service's administrator: the log has the details."


PRUNED = (UnknownDelivery, UnknownJob, UnknownRun, UnknownWeather)
"""Problems of unknown things that may also have been pruned by retention."""
MAX_FAULTS = 50  # thousands of messages would not help

log = structlog.get_logger()


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

    kind = "invalid-request"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__(" ".join(f"{fault.field or fault.location}: {fault.detail.rstrip('.')}." for fault in faults))
        self.faults = list(faults)


def refused(field: str, detail: str, location: str = "query") -> InvalidRequest:
    """Return the error of one field that cannot be used, a query parameter's by default."""
    return InvalidRequest([Fault(location=location, field=field, detail=detail)])


def title_of(kind: str) -> str:
    """Return the title of a kind."""
    return kind.replace("-", " ").capitalize()


def meaning_of(problem: type[Problem]) -> str:
    """Return the meaning of a kind of problem."""
    return (problem.__doc__ or "").strip().splitlines()[0]


def documented(*problems: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of an operation's own problems and of those that every operation has."""
    by_status: dict[int | str, list[type[Problem]]] = {}
    gone = (Gone,) if any(problem in PRUNED for problem in problems) else ()
    for problem in (*problems, *gone, InvalidRequest, TooManyRequests, Internal, DatabaseProblem):
        by_status.setdefault(problem.status, []).append(problem)
    return {
        status: {
            "model": ProblemDetails,
            "description": " ".join(f"`{kind.kind}`: {meaning_of(kind)}" for kind in kinds),
            "content": {"application/json": {"examples": {kind.kind: {"value": _example(kind)} for kind in kinds}}},
        }
        for status, kinds in by_status.items()
    }


def documented_keyed(*problems: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of an operation that needs a key to read."""
    return documented(Unauthorized, *problems)


def documented_writing(*problems: type[Problem]) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI responses of an operation that needs a key and takes a body."""
    return documented(Unauthorized, Forbidden, TooLarge, StorageFull, *problems)


def handle(app: FastAPI) -> None:
    """Make an application answer every error as a problem."""
    app.add_exception_handler(Problem, answer_to)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(SQLAlchemyError, _database)
    app.add_exception_handler(OSError, _system)
    app.add_exception_handler(Exception, _unexpected)


def answer_to(request: Request, error: Exception) -> Response:
    """Return the response to an error, as problem details."""
    match error:
        case Unauthorized():
            headers = {"WWW-Authenticate": "Bearer"}
        case TooManyRequests():
            headers = {"Retry-After": str(error.seconds)}
        case MethodNotAllowed():
            headers = {"Allow": ", ".join(error.allowed)}
        case DatabaseProblem():
            headers = {"Retry-After": "5"}  # seconds after which the database may be available again
        case _:
            headers = {}
    assert isinstance(error, Problem)
    faults = error.faults if isinstance(error, InvalidRequest) else None
    details = _details(error.kind, type(error).status, str(error), request.scope["path"], faults)
    return _response(details, headers)


def _response(details: ProblemDetails, headers: Mapping[str, str] | None) -> Response:
    content = details.model_dump_json(exclude_unset=True)
    sent = {"Cache-Control": "no-store", **(headers or {})}
    return Response(content, status_code=details.status, media_type=MEDIA_TYPE, headers=sent)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return answer_to(request, InvalidRequest(faults_of(request, error)))


def faults_of(request: Request, error: RequestValidationError) -> list[Fault]:
    """Return the invalid fields of a request."""
    sent = request.headers.get("Content-Type", "")
    return [
        Fault(
            location=str(fault["loc"][0]),
            field=_sayable(_field(fault, error.body)),
            detail=_sayable(_detail(fault, sent)),
        )
        for fault in error.errors()[:MAX_FAULTS]
    ]


def _field(fault: Mapping[str, Any], body: object) -> str:
    """Return the name of an invalid field as in the request; empty for a body that is not JSON (pydantic gives a
    character position)."""
    if fault["type"] == "json_invalid":
        return ""
    place, *rest = fault["loc"]
    return path(rest, fault["type"], body) if place == "body" else ".".join(str(part) for part in rest)


def _detail(fault: Mapping[str, Any], sent: str) -> str:
    """Describe what is wrong with a field, rewording pydantic's internal messages.

    Args:
        sent: the media type of the body.
    """
    if fault["loc"] == ("body",) and not _is_json(sent):
        return f"Send JSON with the header Content-Type: application/json{f', not {sent[:64]}' if sent else ''}"
    match fault["type"]:
        case "json_invalid":
            place = f"{fault['ctx']['error']}, character {fault['loc'][1]}"
            return f"It is not JSON ({place}): send JSON (RFC 8259) in UTF-8"
        case "missing" if fault["loc"] == ("body",):
            return "It is empty: send a JSON object with the fields of this operation, which /docs lists"
    words = message(fault)
    # A validator's own sentence stays as it is: it may begin with a name.
    return words if words in str(fault["msg"]) else words[:1].upper() + words[1:]


def _is_json(media_type: str) -> bool:
    kind = media_type.partition(";")[0].strip().lower()
    return kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))


def _sayable(text: str) -> str:
    """Return a text without lone surrogates, which JSON allows and UTF-8 does not."""
    return text.encode(errors="replace").decode()


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    match status:
        case HTTPStatus.BAD_REQUEST:
            result = "it cannot be read: send JSON (RFC 8259) in UTF-8"
            return answer_to(request, refused("", result, "body"))
        case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return answer_to(request, TooLarge(error.detail))
        case HTTPStatus.NOT_FOUND:
            result = f"There is nothing at {request.scope['path']}: /docs lists all addresses."
        case HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = _methods(request)
            result = f"{request.method} is not possible at {request.scope['path']}: use {_any(allowed)}."
            return answer_to(request, MethodNotAllowed(result, allowed))
        case _:
            result = f"{status.description or status.phrase}."
    kind = status.phrase.lower().replace(" ", "-")
    return _response(_details(kind, status, result, request.scope["path"], None), error.headers)


def _methods(request: Request) -> list[str]:
    """Return all methods of an address; the framework's `Allow` covers only its first operation."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    asked = {**request.scope, "root_path": request.scope.get("app_root_path", "")}  # as before a mount had it

    def knows(method: HTTPMethod) -> bool:
        return any(route.matches({**asked, "method": method})[0] is Match.FULL for route in routes)

    methods = {str(method) for method in HTTPMethod if knows(method)} or {"GET"}  # mounts are of files
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


def _any(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _database(request: Request, error: Exception) -> Response:
    if is_full(error):
        return _full(request)
    log.error("request.database", path=shown_path(request.scope), error=str(error))
    result = "The database does not respond correctly: try again shortly, and check the service's log if it continues."
    return answer_to(request, DatabaseProblem(result))


def _system(request: Request, error: Exception) -> Response:
    if not is_full(error):
        raise error  # to `_unexpected`
    return _full(request)


def _full(request: Request) -> Response:
    log.error("request.storage_full", path=shown_path(request.scope))
    return answer_to(request, StorageFull())


def _unexpected(request: Request, error: Exception) -> Response:
    # The server logs the traceback too, after this answer: but without the id of the request.
    log.error("request.failed", path=shown_path(request.scope), exc_info=error)
    return answer_to(request, Internal(meaning_of(Internal)))


def _details(kind: str, status: int, detail: str, path: str, faults: list[Fault] | None) -> ProblemDetails:
    more = {} if faults is None else {"errors": faults}
    return ProblemDetails(
        type=f"/problems/{kind}", title=title_of(kind), status=status, detail=detail, instance=path, **more
    )


def _example(problem: type[Problem]) -> dict[str, Any]:
    faults = None
    if problem is InvalidRequest:
        faults = [Fault(location="query", field="unit", detail="Unknown here: use units, members, format.")]
    detail = meaning_of(problem) if faults is None else str(InvalidRequest(faults))
    details = _details(problem.kind, problem.status, detail, "/v1/basins/01013500", faults)
    return details.model_dump(exclude_unset=True)
