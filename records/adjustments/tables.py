"""Adjustments of issued forecasts."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from records.database.base import Base, FreeText, JsonList, JsonObject


class AdjustmentRow(Base):
    """An adjustment: a draft until it is published. What it makes of the run's flow is computed, not stored."""

    __tablename__ = "adjustments"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"]),
        CheckConstraint("factor > 0", name="factor"),
        CheckConstraint("(published_at IS NULL) = (publisher IS NULL)", name="published"),
        CheckConstraint(
            "published_at IS NOT NULL OR (note IS NULL AND levels IS NULL AND alerts_at IS NULL)", name="draft"
        ),
        Index(None, "run_id", "basin_id"),
        Index(None, "basin_id", "published_at"),
        Index(None, "alerts_at"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    run_id: Mapped[str]
    basin_id: Mapped[str]
    factor: Mapped[float]
    shift_days: Mapped[int]
    # By level.
    chances: Mapped[JsonObject]
    words: Mapped[FreeText]
    author: Mapped[str]
    # Not a foreign key: keys are revoked, never deleted.
    key_id: Mapped[str]
    created_at: Mapped[datetime]
    published_at: Mapped[datetime | None]
    publisher: Mapped[str | None]
    note: Mapped[FreeText | None]
    # The chances of levels as issued and as adjusted, as readers saw them first.
    levels: Mapped[JsonList | None]
    # When alerts were decided by it; null: not yet.
    alerts_at: Mapped[datetime | None]
