"""The levels that operators set."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from records.tables.base import Base, one_of


class ThresholdRow(Base):
    """A level of a basin's discharge, m3/s."""

    __tablename__ = "thresholds"
    __table_args__ = (
        CheckConstraint("discharge > 0", name="discharge"),
        one_of("direction", "rising", "falling"),
    )

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    discharge: Mapped[float]
    direction: Mapped[str]
    set_at: Mapped[datetime]
