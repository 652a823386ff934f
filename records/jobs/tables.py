"""Jobs and their events, schedules, and heartbeats of processes."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from records.database.base import Base, Document, FreeText, JsonList, JsonObject, one_of
from records.jobs.gpu_state import GPUState

STATUSES = ("queued", "running", "waiting", "succeeded", "failed", "cancelled")


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


class JobRow(Base):
    """A piece of work. This row is authoritative; the broker's message only carries its id."""

    __tablename__ = "jobs"
    __table_args__ = (
        one_of("status", *STATUSES),
        CheckConstraint("attempt BETWEEN 0 AND max_attempts", name="attempt"),
        CheckConstraint("(status = 'running') = (lease_until IS NOT NULL)", name="lease"),
        CheckConstraint("status NOT IN ('queued', 'waiting') OR cancel_requested_at IS NULL", name="cancel"),
        CheckConstraint("(status = 'failed') = (problem IS NOT NULL)", name="problem"),
        CheckConstraint(
            "(status IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)", name="finished"
        ),
        UniqueConstraint("idempotency_key"),
        Index(None, "status"),
        Index(None, "parent_id"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    kind: Mapped[str]
    params: Mapped[JsonObject]
    queue: Mapped[str]
    status: Mapped[str]
    attempt: Mapped[int]
    max_attempts: Mapped[int]
    worker: Mapped[str | None]
    lease_until: Mapped[datetime | None]
    cancel_requested_at: Mapped[datetime | None]
    progress: Mapped[JsonObject | None]
    plan: Mapped[JsonObject | None]
    result: Mapped[JsonObject | None]
    problem: Mapped[JsonObject | None]
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("jobs.id"))
    # Not a foreign key: jobs outlive their schedule.
    schedule_id: Mapped[str | None]
    idempotency_key: Mapped[str | None]
    request_hash: Mapped[str]
    created_by: Mapped[FreeText | None]
    created_at: Mapped[datetime]
    started_at: Mapped[datetime | None]
    finished_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    # Not a foreign key: keys are revoked, never deleted.
    key_id: Mapped[str | None]
    # When its newest attempt was started.
    claimed_at: Mapped[datetime | None]


class EventRow(Base):
    """An event of a job. Numbers only grow: those of deleted rows are never reused."""

    __tablename__ = "job_events"
    __table_args__ = (
        one_of("type", "status", "progress", "log"),
        Index(None, "job_id", "seq"),
        {"sqlite_autoincrement": True},
    )

    seq: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[str] = mapped_column(ForeignKey("jobs.id", ondelete="CASCADE"))
    at: Mapped[datetime]
    type: Mapped[str]
    data: Mapped[JsonObject]


class ScheduleRow(Base):
    """A schedule. `revision` grows with every change and every firing."""

    __tablename__ = "schedules"
    __table_args__ = (
        CheckConstraint("length(name) > 0", name="name"),
        UniqueConstraint("name"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[FreeText]
    kind: Mapped[str]
    params: Mapped[JsonObject]
    cron: Mapped[str]
    timezone: Mapped[str]
    enabled: Mapped[bool]
    next_run_at: Mapped[datetime | None]
    last_run_at: Mapped[datetime | None]
    # Null again once that job is pruned.
    last_job_id: Mapped[str | None] = mapped_column(ForeignKey("jobs.id", ondelete="SET NULL"))
    revision: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    # Its jobs have the permissions of this key; null: those of the service, since the command line created it.
    # Not a foreign key: keys are revoked, never deleted.
    key_id: Mapped[str | None]
