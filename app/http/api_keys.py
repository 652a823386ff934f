"""API keys: a scoped token in the header `Authorization: Bearer TOKEN`.

A token is taken from that header alone, never from a URL, and is never logged.
"""

from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from typing import Annotated, Any

import structlog
from fastapi import Depends, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic_core import PydanticCustomError
from starlette.concurrency import run_in_threadpool

from app.http.dependencies import SeenDatabase, ServiceClock
from app.http.limits.addresses import address_of, counted_as
from app.http.limits.rate_limits import LimitStatus, too_many
from app.http.middleware import shown_path
from app.http.problems import Forbidden, Unauthorized
from hydrology.base.errors import Problem
from jobspec.fields import full_id
from records.access import keys
from records.access.audit import Actor, Writer
from records.basins import basins, regions
from records.database.engine import Database

log = structlog.get_logger()


_bearer = HTTPBearer(
    scheme_name="key",
    auto_error=False,
    description="A key's token (`freshet_…`), which `freshet keys make NAME --scope operator` shows once. An "
    "`operator` posts data of its own basins, and jobs whose results are its own; a `forecaster` may also forecast for "
    "the service, adjust and publish forecasts and decide held alerts; an `admin` may do everything. A key for a "
    "region changes nothing outside it.",
)


async def any_key(
    request: Request, _sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None
) -> keys.Key:
    """Return the key of the request, which is looked up once. Only wrong keys count: no valid one is locked out."""
    request.state.varies_by_key = True
    known: keys.Key | None = getattr(request.state, "key", None)
    if known is not None:
        return known
    sent = await _bearer(request)
    if sent is None:
        raise Unauthorized(f"This needs a key: {_how(request)}")
    key = await run_in_threadpool(_look_up, request, sent.credentials)
    if key is not None:
        request.state.key, request.state.sees_all = key, key.is_admin
        return key
    failures = await request.app.state.rates.count("failed-keys", counted_as(address_of(request.scope)))
    if not failures.allowed:
        raise too_many(failures)
    raise Unauthorized(f"The key is not known, has expired or was revoked: {_how(request)}")


def _look_up(request: Request, token: str) -> keys.Key | None:
    database: Database = request.app.state.database
    with database.reading() as session:
        key = keys.check(session, token, request.app.state.clock.wall())
        reason = None if key else keys.why_refused(session, token)
    if key is None:
        # Never log the token or a part of it: it may be another service's password.
        log.warning("key.refused", address=address_of(request.scope), path=shown_path(request.scope), reason=reason)
    return key


def _how(request: Request) -> str:
    scope = needed_scope(request)
    return f"create one with `freshet keys make NAME --scope {scope}` and send it as `Authorization: Bearer TOKEN`."


AnyKey = Annotated[keys.Key, Depends(any_key)]


async def sent_key(request: Request) -> keys.Key | None:
    """Return the key of the request; None where it sends none."""
    return await any_key(request) if "Authorization" in request.headers else None


async def note_key(request: Request) -> None:
    """Note the key of a request that needs none: an administrator's sees more. A wrong one counts as none."""
    with suppress(Problem):
        await sent_key(request)


async def _counted(request: Request, key: AnyKey) -> keys.Key:
    standing: LimitStatus = await request.app.state.rates.count("writes", key.id)
    request.state.writes = standing
    if not standing.allowed:
        raise too_many(standing)
    return key


# Each scope may do what the one before it may: any key is an operator's.
Operator = Annotated[keys.Key, Depends(_counted)]


async def _writer(request: Request, key: Operator, database: SeenDatabase, clock: ServiceClock) -> Writer:
    if key.region is not None and "basin" in request.path_params:
        await run_in_threadpool(_require_region, database, key, request.path_params["basin"])
    return Writer(key, Actor(key.name, key.id, address_of(request.scope) or None), database, clock, clock.wall())


def _require_region(database: Database, key: keys.Key, named: str) -> None:
    """Refuse a key whose region lacks the basin of an address. One that is new, or unknown, is not refused here."""
    with suppress(PydanticCustomError), database.reading() as session:
        stored = basins.known(session, [full_id(named)])
        regions.require_within(session, key.region, stored, key=key.name)


OperatorWriter = Annotated[Writer, Depends(_writer)]


_SCOPES: dict[object, keys.Scope | None] = {any_key: None}
"""The least scope that each check of a key needs."""


def _at_least(scope: keys.Scope, of_any: Any) -> Any:
    """Return a dependency for a key, or a request that writes with one, of at least a scope."""

    async def checked(sent: of_any) -> Any:
        _require(sent.key if isinstance(sent, Writer) else sent, scope)
        return sent

    _SCOPES[checked] = scope
    return Depends(checked)


def _require(key: keys.Key, scope: keys.Scope | None) -> None:
    if (scope == "admin" and not key.is_admin) or (scope == "forecaster" and not key.is_forecaster):
        raise Forbidden(
            f"The key of {key.name} has the scope {key.scope}, but this needs {scope}: create one with "
            f"`freshet keys make NAME --scope {scope}`."
        )


ForecasterWriter = Annotated[Writer, _at_least("forecaster", OperatorWriter)]
ForecasterReader = Annotated[keys.Key, _at_least("forecaster", AnyKey)]
AdminWriter = Annotated[Writer, _at_least("admin", OperatorWriter)]
AdminReader = Annotated[keys.Key, _at_least("admin", AnyKey)]


def require_owner(key: keys.Key, owner: str | None, problem: type[Forbidden], what: str) -> None:
    """Require that a key is the owner (None: command line or schedule); an admin's may take anything."""
    if not key.is_admin and owner != key.id:
        raise problem(f"{what} does not belong to the key of {key.name}: use the key that created it, or an admin's.")


class KeyFirstRoute(APIRoute):
    """A route that checks the key and its scope before it reads the body.

    The framework would read and parse the body of whoever sends one, and then look for a key.
    """

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def check_and_handle(request: Request) -> Response:
            for scope in _scopes_of(request.scope["route"].dependant):
                _require(await any_key(request), scope)
            return await handle(request)

        return check_and_handle


def needed_scope(request: Request) -> keys.Scope:
    """Return the least scope of a key that the operation of a request needs."""
    return next(filter(None, _scopes_of(request.scope["route"].dependant)), "operator")


def _scopes_of(dependant: Dependant) -> Iterator[keys.Scope | None]:
    """Yield the scopes that an operation needs; none where it needs no key."""
    for inner in dependant.dependencies:
        yield from _scopes_of(inner)
        if inner.call in _SCOPES:
            yield _SCOPES[inner.call]
