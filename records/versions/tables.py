"""Trainings, model versions with their members and weights, promotions, error models."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from records.database.base import Base, Document, FreeText, JsonObject, Long, one_of
from records.database.tables import Checksummed
from records.runs.run_request import RunRecalibration
from records.versions.version_properties import VersionProperties


class ErrorModelRow(Checksummed, Base):
    """The part of an error model that all basins share. Another fit replaces it; runs store its fingerprint."""

    __tablename__ = "error_models"
    __table_args__ = (
        CheckConstraint("first <= last", name="order"),
        CheckConstraint("length(sha256) = 64", name="sha256"),
    )
    summed_names = ("version_id", "sha256")
    summed_contents = ("content", "regional")

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    first: Mapped[Day]
    last: Mapped[Day]
    days: Mapped[int] = mapped_column(Long)
    content: Mapped[bytes]
    sha256: Mapped[str]
    created_at: Mapped[datetime]
    regional: Mapped[bytes]
    for_unseen: Mapped[bool]
    checksum: Mapped[int] = mapped_column(Long)


class BasinErrorsRow(Base):
    """The errors in one basin, stored here or not: a shipped error model may know more basins."""

    __tablename__ = "basin_errors"
    __table_args__ = (CheckConstraint("length(sha256) = 64", name="sha256"),)

    version_id: Mapped[str] = mapped_column(ForeignKey("error_models.version_id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    days: Mapped[int]
    content: Mapped[bytes]
    sha256: Mapped[str]


class RecalibrationRow(Base):
    """How the forecasts of a version with a weather model are recalibrated. Another fit replaces it; runs store it."""

    __tablename__ = "recalibrations"

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    weather: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[RunRecalibration] = mapped_column(Document(RunRecalibration))
    created_at: Mapped[datetime]


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
    reason: Mapped[Absent | None]
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
    """A member that has finished training, stored until the version is assembled."""

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


class VersionRow(Base):
    """A trained model."""

    __tablename__ = "versions"
    __table_args__ = (one_of("status", "ready", "withdrawn"), one_of("uses", "best", "last"))

    id: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    issued_at: Mapped[datetime]
    architecture: Mapped[str]
    conserving: Mapped[bool]
    product: Mapped[str]
    config: Mapped[JsonObject]
    scaler: Mapped[JsonObject]
    data_hash: Mapped[str]
    code_version: Mapped[str]
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("versions.id"))
    label: Mapped[FreeText | None]
    uses: Mapped[str]
    properties: Mapped[VersionProperties] = mapped_column(Document(VersionProperties))
    weights_hash: Mapped[str]
    status: Mapped[str]
    # The operator's key that trained it; null for the service's. Not a foreign key: keys are revoked, never deleted.
    owner: Mapped[str | None]
    # The operator's key that it belonged to before an administrator adopted a basin that it serves.
    adopted_from: Mapped[str | None]


class VersionBasinRow(Base):
    """A basin that a version learnt from; for a version trained elsewhere it may not be stored here."""

    __tablename__ = "version_basins"

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)


class MemberRow(Base):
    """One network of a version."""

    __tablename__ = "version_members"

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    label: Mapped[int] = mapped_column(primary_key=True)
    seed: Mapped[int] = mapped_column(Long)
    log: Mapped[JsonObject]


class WeightsRow(Base):
    """The weights of one member, in safetensors: of its best validation or its last step."""

    __tablename__ = "version_weights"
    __table_args__ = (
        ForeignKeyConstraint(["version_id", "label"], ["version_members.version_id", "version_members.label"]),
        one_of("which", "best", "last"),
        CheckConstraint("length(sha256) = 64", name="sha256"),
    )

    version_id: Mapped[str] = mapped_column(primary_key=True)
    label: Mapped[int] = mapped_column(primary_key=True)
    which: Mapped[str] = mapped_column(primary_key=True)
    weights: Mapped[bytes]
    sha256: Mapped[str]


class PromotionRow(Base):
    """From this row on, this version forecasts a basin."""

    __tablename__ = "promotions"
    __table_args__ = (
        CheckConstraint("length(reason) > 0", name="reason"),
        CheckConstraint("length(promoted_by) > 0", name="promoted_by"),
        Index(None, "basin_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"))
    promoted_at: Mapped[datetime]
    promoted_by: Mapped[str]
    reason: Mapped[FreeText]
