"""Scores that others have published, basin by basin, and whom to cite for them."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.calendar import Day
from records.tables.base import Base


class PublicationRow(Base):
    """Where published scores are from."""

    __tablename__ = "publications"

    source: Mapped[str] = mapped_column(primary_key=True)
    citation: Mapped[str]
    file_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    kept_at: Mapped[datetime]


class PublishedScoreRow(Base):
    """One published score, with a value or a reason."""

    __tablename__ = "published_scores"
    __table_args__ = (
        CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name="reason"),
        CheckConstraint("first_day <= last_day", name="order"),
    )

    source: Mapped[str] = mapped_column(ForeignKey("publications.source"), primary_key=True)
    model: Mapped[str] = mapped_column(primary_key=True)
    # Not a foreign key: what is published of a gauge holds whether or not its data are kept here yet.
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    first_day: Mapped[Day] = mapped_column(primary_key=True)
    last_day: Mapped[Day] = mapped_column(primary_key=True)
    value: Mapped[float | None]
    reason: Mapped[str | None]
