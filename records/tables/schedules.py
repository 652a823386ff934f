"""Schedules: which job is posted when."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, JsonObject


class ScheduleRow(Base):
    """A schedule. `revision` grows with every change and every firing."""

    __tablename__ = "schedules"
    __table_args__ = (
        CheckConstraint("length(name) > 0", name="name"),
        UniqueConstraint("name"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    kind: Mapped[str]
    params: Mapped[JsonObject]
    cron: Mapped[str]
    timezone: Mapped[str]
    enabled: Mapped[bool]
    next_run_at: Mapped[datetime | None]
    last_run_at: Mapped[datetime | None]
    # Null again when that job is pruned.
    last_job_id: Mapped[str | None] = mapped_column(ForeignKey("jobs.id", ondelete="SET NULL"))
    revision: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    # Its jobs run with the rights of this key; null: with those of the service, since the command line made it.
    # Not a foreign key: keys are revoked, never deleted.
    key_id: Mapped[str | None]
