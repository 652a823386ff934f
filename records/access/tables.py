"""API keys, with only the hash of each token, and the audit trail."""

from datetime import datetime

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from records.database.base import Base, FreeText, JsonObject, one_of


class AuditRow(Base):
    """A change. Numbers only grow: those of deleted rows are never reused."""

    __tablename__ = "audit"
    __table_args__ = ({"sqlite_autoincrement": True},)

    seq: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    who: Mapped[FreeText]
    # Not a foreign key: the trail outlives its subjects.
    key_id: Mapped[str | None]
    address: Mapped[str | None]
    action: Mapped[str]
    subject: Mapped[str]
    detail: Mapped[JsonObject]


class KeyRow(Base):
    """An API key."""

    __tablename__ = "keys"
    __table_args__ = (
        one_of("scope", "operator", "forecaster", "admin"),
        CheckConstraint("length(token_sha256) = 64", name="token_sha256"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[FreeText]
    scope: Mapped[str]
    token_sha256: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
