"""Heartbeats of processes."""

from datetime import datetime

from sqlalchemy.orm import Mapped, mapped_column

from records.database.base import Base, Document, JsonList, one_of
from records.jobs.gpu_state import GPUState


class AttendanceRow(Base):
    """A process that has sent a heartbeat: a worker with its queues, or a scheduler."""

    __tablename__ = "attendance"
    __table_args__ = (one_of("role", "worker", "scheduler"),)

    name: Mapped[str] = mapped_column(primary_key=True)
    role: Mapped[str]
    queues: Mapped[JsonList]
    seen_at: Mapped[datetime]
    clock_ahead_seconds: Mapped[float]
    trouble: Mapped[str | None]
    gpu: Mapped[GPUState | None] = mapped_column(Document(GPUState))
