"""Model versions, their members and weights, and which basin uses which."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, Document, JsonObject, Long, one_of
from records.version_properties import VersionProperties


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
    label: Mapped[str | None]
    uses: Mapped[str]
    properties: Mapped[VersionProperties] = mapped_column(Document(VersionProperties))
    weights_hash: Mapped[str]
    status: Mapped[str]
    # The operator's key that trained it; null for the service's. Not a foreign key: keys are revoked, never deleted.
    owner: Mapped[str | None]


class VersionBasinRow(Base):
    """A basin that a version learnt from: kept here or, for a version that was trained elsewhere, not."""

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
    """The weights of one member, in safetensors: those of its best validation, those of its last step."""

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
    """From this row on, a basin's forecasts come from this version."""

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
    reason: Mapped[str]
