"""API keys. A token is shown once, on creation; only its SHA-256 is stored."""

import re
import secrets
from datetime import datetime
from hmac import compare_digest
from typing import Any, Literal

from sqlalchemy import CheckConstraint, Column, ColumnElement, Row, String, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.digests import sha256
from hydrology.base.errors import InvalidInput, NotFound
from records.database.base import FreeText
from records.database.checksums import new_id
from records.database.stored import add_all, as_record, as_values, find_or_raise, find_row, read, stored, table_of

Scope = Literal["operator", "forecaster", "admin"]
_ADMIN: Scope = "admin"
_TOKEN = re.compile(r"freshet_([0-9a-f]{22})_[A-Za-z0-9_-]{43}")


class UnknownKey(NotFound):
    """No key with this id is stored."""


@stored(
    "keys",
    Column("token_sha256", String, nullable=False),
    CheckConstraint("length(token_sha256) = 64", name="token_sha256"),
    kw_only=False,
)
class Key:
    """A key, without its token. `jobspec.jobs.base` defines what an `operator` may do; a `forecaster` may also
    adjust and publish forecasts and decide held alerts; an `admin` may do all. One of a `region`
    (`records.basins.regions`) changes nothing outside it."""

    id: str
    name: FreeText
    scope: Scope
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    # Not a foreign key: keys are revoked, never deleted. One that is not stored has no basins.
    region: str | None = None

    @property
    def is_admin(self) -> bool:
        """Whether what is done with the key is done for the service, and not for an operator."""
        return self.scope == _ADMIN

    @property
    def is_forecaster(self) -> bool:
        """Whether its holder may publish adjusted forecasts and decide held alerts."""
        return self.scope != "operator"


KEYS = table_of(Key)


def make(
    session: Session, name: str, scope: Scope, expires_at: datetime | None, at: datetime, region: str | None = None
) -> tuple[Key, str]:
    """Create a key and return it with its token, which is not stored: 256 random bits after the key's id."""
    if not name.strip():
        raise InvalidInput("A key needs a name that identifies its holder: give one.")
    if expires_at is not None and expires_at <= at:
        raise InvalidInput(f"The key would expire at {expires_at.isoformat()}, which is past: give a later instant.")
    if region is not None and scope == _ADMIN:
        raise InvalidInput("An admin's key is for the whole service: leave its region out, or choose a smaller scope.")
    key = Key(new_id(at), name, scope, at, expires_at, None, region=region)
    token = f"freshet_{key.id}_{secrets.token_urlsafe(32)}"
    add_all(session, Key, [as_values(key) | {"token_sha256": sha256(token.encode())}])
    return key, token


def check(session: Session, token: str, at: datetime) -> Key | None:
    """Return the key that is valid for a token at an instant; None if unknown, expired or revoked."""
    row = _of_token(session, token)
    if row is None or row.revoked_at is not None or (row.expires_at is not None and row.expires_at <= at):
        return None
    return as_record(Key, row)


def why_refused(session: Session, token: str) -> str:
    """Return why `check` refused a token, without quoting any part of it."""
    if _TOKEN.fullmatch(token) is None:
        return "malformed"
    row = _of_token(session, token)
    if row is None:
        return "unknown"
    return "revoked" if row.revoked_at is not None else "expired"


def get(session: Session, key: str) -> Key:
    unknown = UnknownKey(f"No key {key!r} is stored here: list the keys to see their ids.")
    return find_or_raise(session, Key, unknown, id=key)


def revoke(session: Session, key: str, at: datetime) -> Key:
    found = KEYS.update().where(KEYS.c.id == key).values(revoked_at=func.coalesce(KEYS.c.revoked_at, at))
    session.execute(found)
    return get(session, key)


def list_keys(session: Session) -> list[Key]:
    return read(session, Key, select(KEYS).order_by(KEYS.c.id.desc()))


def valid(at: datetime) -> ColumnElement[bool]:
    """Return the condition that a key is neither revoked nor expired at an instant."""
    return KEYS.c.revoked_at.is_(None) & or_(KEYS.c.expires_at.is_(None), KEYS.c.expires_at > at)


def official(key_id: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that rows are the service's own: their column holds no key, or an admin's. An operator's
    rows are neither published as the service's state nor do they delay the service's own."""
    return or_(key_id.is_(None), key_id.in_(select(KEYS.c.id).where(KEYS.c.scope == _ADMIN)))


def is_official(session: Session, key_id: str | None) -> bool:
    """Return whether what is stored under a key, or under none, is the service's own; not under an unknown key."""
    return key_id is None or session.scalar(select(KEYS.c.scope).where(KEYS.c.id == key_id)) == _ADMIN


def _of_token(session: Session, token: str) -> Row[Any] | None:
    parts = _TOKEN.fullmatch(token)
    row = None if parts is None else find_row(session, KEYS, id=parts[1])
    # Hashes of 256 random bits need no salt; the comparison takes constant time.
    return row if row is not None and compare_digest(row.token_sha256, sha256(token.encode())) else None
