"""API keys: the hash of each token, never the token."""

from datetime import datetime

from sqlalchemy import CheckConstraint
from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, one_of


class KeyRow(Base):
    """An API key."""

    __tablename__ = "keys"
    __table_args__ = (
        one_of("scope", "operator", "admin"),
        CheckConstraint("length(token_sha256) = 64", name="token_sha256"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    scope: Mapped[str]
    token_sha256: Mapped[str]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
