"""API keys: a scoped token in the header `Authorization: Bearer TOKEN`.

A token is taken from that header alone, never from a URL, and is never logged.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import structlog
from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from sqlalchemy.orm import Session

from app.http.dependencies import OpenDatabase, ServiceClock
from app.http.limits.addresses import address_of, counted_as
from app.http.limits.rate_limit_middleware import too_many
from app.http.limits.rate_limits import LimitStatus
from app.http.problems import Forbidden, Unauthorized
from app.http.request_ids import shown_path
from records.access import audit, keys
from records.access.audit import Actor
from records.access.keys import Key, Scope
from records.database.engine import Database
from runtime.clock import Clock

log = structlog.get_logger()

_HOW = "create one with `freshet keys make NAME --scope operator` and send it as `Authorization: Bearer TOKEN`."
_bearer = HTTPBearer(
    scheme_name="key",
    auto_error=False,
    description="A key's token (`freshet_…`), which `freshet keys make NAME --scope operator` shows once. An "
    "`operator` posts data of its own basins, and jobs whose results are its own; a `forecaster` may also adjust and "
    "publish forecasts and decide held alerts; an `admin` may do everything.",
)


def _checked(
    request: Request,
    database: OpenDatabase,
    clock: ServiceClock,
    sent: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)],
) -> Key | None:
    """Return the key of the request; None if the token is not valid.

    Raises:
        Unauthorized: no token was sent.
    """
    if sent is None:
        raise Unauthorized(f"This needs a key: {_HOW}")
    with database.reading() as session:
        key = keys.check(session, sent.credentials, clock.wall())
        reason = None if key else keys.why_refused(session, sent.credentials)
    if key is None:
        # Never log the token or a part of it: it may be another service's password.
        log.warning("key.refused", address=address_of(request.scope), path=shown_path(request.scope), reason=reason)
    return key


async def any_key(request: Request, key: Annotated[Key | None, Depends(_checked)]) -> Key:
    """Return the key of the request. Only wrong keys are counted, so they never lock out a valid one.

    Raises:
        Unauthorized: there is no key, or it is not valid.
        TooManyRequests: it is not valid, and its address has sent too many such keys.
    """
    if key is not None:
        return key
    failures = await request.app.state.rates.count("failed-keys", counted_as(address_of(request.scope)))
    if not failures.allowed:
        raise too_many(failures)
    raise Unauthorized(f"The key is not known, has expired or was revoked: {_HOW}")


AnyKey = Annotated[Key, Depends(any_key)]


async def _counted(request: Request, key: AnyKey) -> Key:
    """Return the key of a request that writes, and count it.

    Raises:
        TooManyRequests: the key has written too often.
    """
    standing: LimitStatus = await request.app.state.rates.count("writes", key.id)
    request.state.writes = standing
    if not standing.allowed:
        raise too_many(standing)
    return key


# Each scope may do what the one before it may: any key is an operator's.
Operator = Annotated[Key, Depends(_counted)]


@dataclass(frozen=True, slots=True)
class Writer:
    """The key of a request that writes, and what it writes with.

    Attributes:
        actor: the key in the audit trail.
        now: the machine's time of the request.
    """

    key: Key
    actor: Actor
    database: Database
    clock: Clock
    now: datetime

    def record(self, session: Session, action: audit.Action, subject: str, **detail: Any) -> None:
        """Add a change to the audit trail, in the transaction of the change."""
        audit.record(session, self.actor, action, subject, self.now, **detail)


async def _writer(request: Request, key: Operator, database: OpenDatabase, clock: ServiceClock) -> Writer:
    return Writer(key, Actor(key.name, key.id, address_of(request.scope) or None), database, clock, clock.wall())


OperatorWriter = Annotated[Writer, Depends(_writer)]


async def _forecaster_writer(writer: OperatorWriter) -> Writer:
    _require_forecaster(writer.key)
    return writer


async def _forecaster_reader(key: AnyKey) -> Key:
    return _require_forecaster(key)


async def _admin_writer(writer: OperatorWriter) -> Writer:
    _require_admin(writer.key)
    return writer


async def _admin_reader(key: AnyKey) -> Key:
    return _require_admin(key)


def require_owner(key: Key, owner: str | None, problem: type[Forbidden], what: str) -> None:
    """Require that a key owns something; an admin's key may take anything.

    Args:
        owner: id of the key that owns it; None for the command line and schedules.
        problem: raised where another one owns it.
        what: its name in the message.
    """
    if not key.is_admin and owner != key.id:
        raise problem(f"{what} does not belong to the key of {key.name}: use the key that created it, or an admin's.")


def _require_forecaster(key: Key) -> Key:
    if not key.is_forecaster:
        raise _too_small(key, "forecaster")
    return key


def _require_admin(key: Key) -> Key:
    if not key.is_admin:
        raise _too_small(key, "admin")
    return key


def _too_small(key: Key, needed: Scope) -> Forbidden:
    return Forbidden(
        f"The key of {key.name} has the scope {key.scope}, but this needs {needed}: create one with "
        f"`freshet keys make NAME --scope {needed}`."
    )


ForecasterWriter = Annotated[Writer, Depends(_forecaster_writer)]
ForecasterReader = Annotated[Key, Depends(_forecaster_reader)]
AdminWriter = Annotated[Writer, Depends(_admin_writer)]
AdminReader = Annotated[Key, Depends(_admin_reader)]
