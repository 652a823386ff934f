"""Skill of a version: scores as ordinary rows, and the cells that read as snow."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, false
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.calendar import Day
from records.tables.base import Base, JsonList, JsonObject


class ScoreRow(Base):
    """One score under its whole key: `all` where a key part does not select, a reason where there is no value."""

    __tablename__ = "scores"
    __table_args__ = (
        CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name="reason"),
        CheckConstraint("first_day <= last_day", name="order"),
        CheckConstraint("n >= 0", name="n"),
        CheckConstraint("low <= high", name="interval"),
    )

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    member: Mapped[str] = mapped_column(primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    first_day: Mapped[Day] = mapped_column(primary_key=True)
    last_day: Mapped[Day] = mapped_column(primary_key=True)
    lead: Mapped[str] = mapped_column(primary_key=True)
    season: Mapped[str] = mapped_column(primary_key=True)
    threshold: Mapped[str] = mapped_column(primary_key=True)
    forcing_kind: Mapped[str] = mapped_column(primary_key=True)
    reference: Mapped[str] = mapped_column(primary_key=True)
    n: Mapped[int]
    value: Mapped[float | None]
    reason: Mapped[str | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    evaluated_at: Mapped[datetime]
    # Names; null where the score is older than this column.
    attributes_assumed: Mapped[JsonList | None]
    shipped: Mapped[bool] = mapped_column(server_default=false())


class SnowCellsRow(Base):
    """The cells of each member whose sum follows a reference snow series, and how well."""

    __tablename__ = "snow_cells"
    __table_args__ = (
        CheckConstraint(
            "reason IS NOT NULL OR (training_r IS NOT NULL AND test_r IS NOT NULL AND bias_pct IS NOT NULL)",
            name="reason",
        ),
    )

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    product: Mapped[str] = mapped_column(primary_key=True)
    cells: Mapped[JsonObject]
    training_first: Mapped[Day]
    training_last: Mapped[Day]
    training_r: Mapped[float | None]
    test_first: Mapped[Day]
    test_last: Mapped[Day]
    test_r: Mapped[float | None]
    bias_pct: Mapped[float | None]
    reason: Mapped[str | None]
    evaluated_at: Mapped[datetime]
    # Null where the cells are from before this column.
    bare_mm: Mapped[float | None]


class RegionalSnowRow(Base):
    """The cells of each member that read as snow in basins without a reference (`records.regional_snow`)."""

    __tablename__ = "regional_snow"

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    content: Mapped[JsonObject]
    evaluated_at: Mapped[datetime]
