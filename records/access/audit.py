"""The audit trail: one row for every change, written in the same transaction."""

import getpass
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.doc import Doc, Why
from records.access.keys import Key
from records.database.base import FreeText, JsonObject
from records.database.engine import Database
from records.database.stored import ANY_WORD, add_all, narrowed, read, stored, table_of
from runtime.clock import Clock

_OfAccess = Literal["key created", "key revoked", "region set", "region removed"]
_OfJobs = Literal["job posted", "job run", "job cancelled"]
_OfData = Literal["observations posted", "weather posted", "weather added", "weather fused", "data ingested"]
_OfFeeds = Literal["feed created", "feed fetched", "feed backfilled", "feed removed", "bridge fitted", "bridge applied"]
_OfSchedules = Literal["schedule created", "schedule changed", "schedule deleted", "schedule skipped"]
_OfBasins = Literal["basin posted", "basin added", "climate computed", "basin registered", "basin changed"]
_OfAdoption = Literal["basin adopted", "basin released", "shadow started", "shadow ended"]
_OfThresholds = Literal[
    "threshold set", "threshold confirmed", "threshold removed", "flood frequency set", "rating set", "categories set"
]
_OfAlerts = Literal[
    "subscription created",
    "subscription changed",
    "subscription confirmed",
    "subscription resumed",
    "subscription deleted",
    "secret rotated",
    "recipient unsubscribed",
    "questions refused",
    "questions allowed",
    "delivery replayed",
]
_OfForecasters = Literal[
    "forecast adjusted",
    "forecast updated",
    "adjustment published",
    "adjustment deleted",
    "alerts approved",
    "alerts dismissed",
    "alerts released",
    "alerts withdrawn",
    "rating approved",
    "rating dismissed",
]
_OfScores = Literal[
    "model trained",
    "model evaluated",
    "error model fitted",
    "forecasts recalibrated",
    "forecasts verified",
    "levels computed",
    "rival added",
    "rival removed",
]
_OfForecasts = Literal["models compared", "forecast issued", "daily cycle", "archive replayed", "archive extended"]
_OfModels = Literal["model promoted", "model rolled back", "model installed", "models combined", "store pruned"]
Action = Literal[
    _OfAccess,
    _OfJobs,
    _OfData,
    _OfFeeds,
    _OfSchedules,
    _OfBasins,
    _OfAdoption,
    _OfThresholds,
    _OfAlerts,
    _OfForecasters,
    _OfScores,
    _OfForecasts,
    _OfModels,
]


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes something: a key, a user of the command line, or a schedule. `name` is the key's, `command line (unix
    user)`, or `schedule` and its name."""

    name: str
    key_id: str | None = None
    address: str | None = None


@stored("audit", key=("seq",), numbered=True)
class Entry:
    """A change with its actor, time and origin.

    Attributes:
        detail: further facts. Of data: their URL without user and query, their files relative to the folders for
            ingestion, checksums, and the changes. Never a token. Only admins read the trail.
    """

    seq: Annotated[int, Doc("Grows with every change.")]
    at: datetime
    who: Annotated[FreeText, Doc("The name of the key, `command line (unix user)`, or a schedule's name.")]
    # Not a foreign key: the trail outlives its subjects.
    key_id: Annotated[
        str | None,
        Doc("The id of the key."),
        Why("No key was used: the change came from the command line or a schedule."),
    ]
    address: Annotated[str | None, Doc("Where the request came from."), Why("The change was on this machine.")]
    action: Annotated[Action, ANY_WORD]
    subject: Annotated[str, Doc("The identifier of what was changed.")]
    detail: JsonObject


AUDIT = table_of(Entry)


def unix_user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # in a container the user may have a number but no name
        return "unknown"


def command_line() -> Actor:
    return Actor(f"command line ({unix_user()})")


def record(session: Session, actor: Actor, action: Action, subject: str, at: datetime, **detail: Any) -> None:
    row = {"at": at, "who": actor.name, "key_id": actor.key_id, "address": actor.address}
    add_all(session, Entry, [row | {"action": action, "subject": subject, "detail": detail}])


@dataclass(frozen=True, slots=True)
class Writer:
    """Who changes something over the API or by a command, and what it writes with; `now` is the machine's time."""

    key: Key
    actor: Actor
    database: Database
    clock: Clock
    now: datetime

    def record(self, session: Session, action: Action, subject: str, **detail: Any) -> None:
        record(session, self.actor, action, subject, self.now, **detail)


def page(session: Session, *, before: int | None = None, limit: int | None = None) -> list[Entry]:
    """Return the newest changes first. `before` is the last number of the previous page."""
    query = select(AUDIT).order_by(AUDIT.c.seq.desc()).limit(limit)
    return read(session, Entry, narrowed(query, (AUDIT.c.seq.__lt__, before)))
