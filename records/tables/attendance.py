"""Attendance: which workers and schedulers there are."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, JsonList, one_of


class AttendanceRow(Base):
    """A process that has given a sign of life: a worker with the queues that it takes jobs from, or a scheduler."""

    __tablename__ = "attendance"
    __table_args__ = (one_of("role", "worker", "scheduler"),)

    name: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str]
    queues: Mapped[JsonList]
    seen_at: Mapped[datetime]
    clock_ahead_seconds: Mapped[float]
    trouble: Mapped[str | None]
