"""Comparisons of model versions, and which versions each is of."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.calendar import Day
from records.comparison_result import ComparisonResult
from records.tables.base import Base, Document, JsonList


class ComparisonRow(Base):
    """A comparison; one that says the same is the same row."""

    __tablename__ = "comparisons"
    __table_args__ = (
        UniqueConstraint("fingerprint"),
        CheckConstraint("first_day <= last_day", name="order"),
        CheckConstraint("length(fingerprint) = 64", name="fingerprint"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    first_day: Mapped[Day]
    last_day: Mapped[Day]
    basins: Mapped[JsonList]
    result: Mapped[ComparisonResult] = mapped_column(Document(ComparisonResult))
    fingerprint: Mapped[str]
    # The operator's key that asked for it; null for the service's. Not a foreign key: keys are revoked, never deleted.
    owner: Mapped[str | None]


class ComparisonVersionRow(Base):
    """A version of a comparison. The others are held against that of position 0."""

    __tablename__ = "comparison_versions"
    __table_args__ = (
        UniqueConstraint("comparison_id", "version_id"),
        CheckConstraint("position >= 0", name="position"),
        Index(None, "version_id"),
    )

    comparison_id: Mapped[str] = mapped_column(ForeignKey("comparisons.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
