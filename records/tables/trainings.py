"""Trainings under way: their checkpoints and finished members."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, JsonObject, Long, one_of


class TrainingRow(Base):
    """A training, named by the hash of its request."""

    __tablename__ = "trainings"
    __table_args__ = (
        one_of("status", "running", "finished", "failed"),
        CheckConstraint("(status = 'failed') = (reason IS NOT NULL)", name="reason"),
        CheckConstraint("(status = 'finished') = (version_id IS NOT NULL)", name="version"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    request: Mapped[JsonObject]
    status: Mapped[str]
    reason: Mapped[str | None]
    version_id: Mapped[str | None] = mapped_column(ForeignKey("versions.id"))
    started_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class CheckpointRow(Base):
    """The newest checkpoint of a member."""

    __tablename__ = "training_checkpoints"

    training_id: Mapped[str] = mapped_column(ForeignKey("trainings.id"), primary_key=True)
    label: Mapped[int] = mapped_column(primary_key=True)
    step: Mapped[int]
    content: Mapped[bytes]
    sha256: Mapped[str]
    progress: Mapped[JsonObject]
    updated_at: Mapped[datetime]


class FinishedMemberRow(Base):
    """A member whose training is done, kept until the version is assembled."""

    __tablename__ = "training_members"

    training_id: Mapped[str] = mapped_column(ForeignKey("trainings.id"), primary_key=True)
    label: Mapped[int] = mapped_column(primary_key=True)
    seed: Mapped[int] = mapped_column(Long)
    best: Mapped[bytes | None]
    best_sha256: Mapped[str | None]
    last: Mapped[bytes]
    last_sha256: Mapped[str]
    log: Mapped[JsonObject]
    finished_at: Mapped[datetime]
