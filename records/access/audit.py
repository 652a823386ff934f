"""The audit trail: one row for every change, written in the transaction that makes it."""

import getpass
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from records.access.tables import AuditRow
from records.database.base import JsonObject
from records.database.statements import add_all, as_record

Action = Literal[
    "key created",
    "key revoked",
    "job posted",
    "job cancelled",
    "observations posted",
    "weather posted",
    "weather added",
    "data ingested",
    "feed created",
    "feed fetched",
    "feed removed",
    "bridge fitted",
    "bridge applied",
    "schedule created",
    "schedule changed",
    "schedule deleted",
    "basin posted",
    "basin added",
    "climate computed",
    "basin registered",
    "basin changed",
    "threshold set",
    "threshold removed",
    "subscription created",
    "subscription changed",
    "secret rotated",
    "subscription deleted",
    "delivery replayed",
    "model trained",
    "model evaluated",
    "error model fitted",
    "forecasts verified",
    "levels computed",
    "models compared",
    "forecast issued",
    "daily cycle",
    "archive replayed",
    "model promoted",
    "model rolled back",
    "model installed",
    "store pruned",
]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes something.

    Attributes:
        name: of the key, or `command line (unix user)`, or `schedule` and its name.
        key_id: the API key.
        address: where the request came from.
    """

    name: str
    key_id: str | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A change in the trail.

    Attributes:
        seq: grows with each change.
        subject: the identifier of what was changed.
        detail: what else is worth knowing. Of data: their URL without user and query, their files relative to the
            folders for ingestion, checksums, and what changed. Never a token. The trail is for admins alone.
    """

    seq: int
    at: datetime
    who: str
    key_id: str | None
    address: str | None
    action: Action
    subject: str
    detail: JsonObject


def command_line() -> Actor:
    """Return the user of this machine who runs a command."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container may run as a number without a name
        user = "unknown"
    return Actor(f"command line ({user})")


def record(session: Session, actor: Actor, action: Action, subject: str, at: datetime, **detail: Any) -> None:
    """Add a change to the trail, as a part of the transaction that makes it."""
    row = {"at": at, "who": actor.name, "key_id": actor.key_id, "address": actor.address}
    add_all(session, AuditRow, [row | {"action": action, "subject": subject, "detail": detail}])


def page(session: Session, *, before: int | None = None, limit: int | None = None) -> list[Entry]:
    """Return the newest changes first; `before` is the last number of the page before."""
    query = select(AuditRow).order_by(AuditRow.seq.desc()).limit(limit)
    if before is not None:
        query = query.where(AuditRow.seq < before)
    return [as_record(Entry, row) for row in session.scalars(query)]
