"""Answers every error as problem details [RFC 9457]."""

from collections.abc import Awaitable, Callable, Mapping
from http import HTTPMethod, HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.routing import Match, Mount

from app.http import problems
from app.http.middleware import shown_path
from hydrology.base.errors import Problem
from jobspec.fields import message, path
from records.database.connections import DatabaseProblem, StorageFull, is_full

MAX_FAULTS = 50  # thousands of messages would not help

Answerer = Callable[[Request, Exception], Response]

log = structlog.get_logger()


def handle(app: FastAPI) -> None:
    """Make an application answer every error as a problem."""
    app.add_exception_handler(Problem, _without_thread(answer_to))
    app.add_exception_handler(RequestValidationError, _without_thread(_invalid))
    app.add_exception_handler(HTTPException, _without_thread(_http))
    app.add_exception_handler(SQLAlchemyError, _without_thread(_database))
    app.add_exception_handler(OSError, _without_thread(_system))
    app.add_exception_handler(Exception, _without_thread(_unexpected))


def _without_thread(answer: Answerer) -> Callable[[Request, Exception], Awaitable[Response]]:
    """Return a handler that waits for no thread, of which there may be none free."""

    async def handler(request: Request, error: Exception) -> Response:
        return answer(request, error)

    return handler


def answer_to(request: Request, error: Exception) -> Response:
    match error:
        case problems.Unauthorized():
            headers = {"WWW-Authenticate": "Bearer"}
        case problems.TooManyRequests() | problems.Overloaded():
            headers = {"Retry-After": str(error.seconds)}
        case problems.MethodNotAllowed():
            headers = {"Allow": ", ".join(error.allowed)}
        case problems.NoSuchRange():
            headers = {"Content-Range": f"bytes */{error.length}"}
        case DatabaseProblem():
            headers = {"Retry-After": "5"}  # seconds after which the database may be available again
        case _:
            headers = {}
    assert isinstance(error, Problem)
    faults = error.faults if isinstance(error, problems.InvalidRequest) else None
    details = problems.details_of(error.kind, type(error).status, str(error), request.scope["path"], faults)
    return _response(details, headers)


def _response(details: problems.ProblemDetails, headers: Mapping[str, str] | None) -> Response:
    content = details.model_dump_json(exclude_unset=True)
    sent = {"Cache-Control": "no-store", **(headers or {})}
    return Response(content, status_code=details.status, media_type=problems.MEDIA_TYPE, headers=sent)


def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return answer_to(request, problems.InvalidRequest(faults_of(request, error)))


def faults_of(request: Request, error: RequestValidationError) -> list[problems.Fault]:
    sent = request.headers.get("Content-Type", "")
    return [
        problems.Fault(
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
    """Describe what is wrong with a field, rewording pydantic's internal messages."""
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
            return answer_to(request, problems.refused("", result, "body"))
        case HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            return answer_to(request, problems.TooLarge(error.detail))
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return answer_to(request, problems.Overloaded())
        case HTTPStatus.NOT_FOUND:
            result = f"There is nothing at {request.scope['path']}: /docs lists all addresses."
        case HTTPStatus.METHOD_NOT_ALLOWED:
            allowed = _methods(request)
            use = " or ".join(filter(None, [", ".join(allowed[:-1]), allowed[-1]]))
            result = f"{request.method} is not possible at {request.scope['path']}: use {use}."
            return answer_to(request, problems.MethodNotAllowed(result, allowed))
        case _:
            result = f"{status.description or status.phrase}."
    kind = status.phrase.lower().replace(" ", "-")
    return _response(problems.details_of(kind, status, result, request.scope["path"], None), error.headers)


def _methods(request: Request) -> list[str]:
    """Return all methods of an address; the framework's `Allow` covers only its first operation."""
    routes = [route for route in request.app.routes if not isinstance(route, Mount)]
    asked = {**request.scope, "root_path": request.scope.get("app_root_path", "")}  # as before a mount had it

    def knows(method: HTTPMethod) -> bool:
        return any(route.matches({**asked, "method": method})[0] is Match.FULL for route in routes)

    methods = {str(method) for method in HTTPMethod if knows(method)} or {"GET"}  # mounts are of files
    return sorted(methods | ({"HEAD"} if "GET" in methods else set()))


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
    return answer_to(request, problems.Internal(problems.meaning_of(problems.Internal)))
