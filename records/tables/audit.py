"""The audit trail: who changed what, when, from where."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, JsonObject


class AuditRow(Base):
    """A change. Numbers only grow: not even those of deleted rows are used again."""

    __tablename__ = "audit"
    __table_args__ = ({"sqlite_autoincrement": True},)

    seq: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    who: Mapped[str]
    # Not a foreign key: a trail outlives what it speaks of.
    key_id: Mapped[str | None]
    address: Mapped[str | None]
    action: Mapped[str]
    subject: Mapped[str]
    detail: Mapped[JsonObject]
