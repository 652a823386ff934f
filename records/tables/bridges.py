"""Bridges between products of weather: each fit, and what it says of each basin. When one was applied is noted."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.bridge import Corrections, Skill
from hydrology.calendar import Day
from records.tables.base import Base, Document, JsonList, JsonObject, Long


class BridgeRow(Base):
    """A fit of a bridge. Another fit under the same name is another row."""

    __tablename__ = "bridges"
    __table_args__ = (
        CheckConstraint("first <= last", name="order"),
        CheckConstraint("from_product <> to_product", name="products"),
        Index(None, "name", "id"),
        Index(None, "model"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    from_product: Mapped[str]
    to_product: Mapped[str]
    model: Mapped[str | None]
    first: Mapped[Day | None]
    last: Mapped[Day | None]
    refused: Mapped[JsonObject]
    code_version: Mapped[str]
    created_at: Mapped[datetime]


class BridgeBasinRow(Base):
    """What a fit says of a basin: its own, or the middle of those of basins like it."""

    __tablename__ = "bridge_basins"
    __table_args__ = (
        CheckConstraint("(skill IS NULL) = (pooled_reason IS NOT NULL)", name="pooled"),
        CheckConstraint("length(sha256) = 64", name="sha256"),
        Index(None, "basin_id"),
    )

    bridge_id: Mapped[str] = mapped_column(ForeignKey("bridges.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    corrections: Mapped[Corrections] = mapped_column(Document(Corrections))
    skill: Mapped[Skill | None] = mapped_column(Document(Skill))
    pooled_from: Mapped[JsonList]
    pooled_reason: Mapped[str | None]
    sha256: Mapped[str]
    applied_at: Mapped[datetime | None]
    applied_stamp: Mapped[int | None] = mapped_column(Long)
