"""Flow, levels and stored water of versions' simulations of past days."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.extremes.trend import Trend
from records.database.base import Base, Document, JsonList, JsonObject, Long, one_of
from records.database.tables import Checksummed


class SimulatedRecordRow(Base):
    """The days of a basin that a version simulated, and the area that depths were converted with."""

    __tablename__ = "simulated_records"
    __table_args__ = (
        CheckConstraint("first_day <= last_day", name="order"),
        CheckConstraint("area_m2 > 0", name="area"),
    )

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    first_day: Mapped[Day]
    last_day: Mapped[Day]
    area_name: Mapped[str]
    area_m2: Mapped[float]
    attributes_assumed: Mapped[JsonList]
    computed_at: Mapped[datetime]
    # Null of a version that does not conserve mass.
    loss: Mapped[JsonObject | None]


class SimulatedWaterRow(Checksummed, Base):
    """Simulated water in a basin at the end of each day, mm: float32, little-endian; and its cells."""

    __tablename__ = "simulated_water"
    __table_args__ = (
        ForeignKeyConstraint(
            ["version_id", "basin_id"], ["simulated_records.version_id", "simulated_records.basin_id"]
        ),
        one_of("variable", "storage", "snow"),
        CheckConstraint("(variable = 'snow') = (cells IS NOT NULL)", name="cells"),
    )
    summed_names = ("version_id", "basin_id", "variable")
    summed_contents = ("content",)

    version_id: Mapped[str] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    variable: Mapped[str] = mapped_column(primary_key=True)
    cells: Mapped[JsonObject | None]
    content: Mapped[bytes]
    checksum: Mapped[int] = mapped_column(Long)


class SimulatedFlowRow(Checksummed, Base):
    """Flow on the days of an evaluation, mm/day: simulated, then observed; float32, little-endian."""

    __tablename__ = "simulated_flow"
    __table_args__ = (CheckConstraint("first_day <= last_day", name="order"),)
    summed_names = ("version_id", "basin_id", "first_day", "last_day")
    summed_contents = ("content",)

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    first_day: Mapped[Day] = mapped_column(primary_key=True)
    last_day: Mapped[Day] = mapped_column(primary_key=True)
    evaluated_at: Mapped[datetime]
    content: Mapped[bytes]
    checksum: Mapped[int] = mapped_column(Long)


class SimulatedLevelRow(Base):
    """A simulated level, m3/s, with its position and the years that it uses."""

    __tablename__ = "simulated_levels"
    __table_args__ = (
        ForeignKeyConstraint(
            ["version_id", "basin_id"], ["simulated_records.version_id", "simulated_records.basin_id"]
        ),
        CheckConstraint("value IS NOT NULL OR reason IS NOT NULL", name="reason"),
    )

    version_id: Mapped[str] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    place: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    kind: Mapped[str]
    method: Mapped[str]
    years: Mapped[int]
    left_out_years: Mapped[int]
    dry_years: Mapped[int]
    low_outliers: Mapped[int | None]
    trend: Mapped[Trend | None] = mapped_column(Document(Trend))
    first_day: Mapped[Day | None]
    last_day: Mapped[Day | None]
    name: Mapped[str]
    return_period_years: Mapped[int | None]
    exceeded_percent: Mapped[int | None]
    value: Mapped[float | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    reason: Mapped[Absent | None]
