"""Sources, daily series by calendar year, arrivals and revisions."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.base.calendar import Day
from records.database.base import Base, Long
from records.database.tables import Checksummed


class SourceRow(Base):
    """A file, or a part of one, that data were read from."""

    __tablename__ = "sources"
    __table_args__ = (
        UniqueConstraint("name", "sha256"),
        CheckConstraint("length(sha256) = 64", name="sha256"),
        CheckConstraint("size >= 0", name="size"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    sha256: Mapped[str]
    size: Mapped[int] = mapped_column(Long)
    read_at: Mapped[datetime]


class SeriesRow(Checksummed, Base):
    """A calendar year of a daily series: little-endian float32 values and one flag byte per day."""

    __tablename__ = "series"
    __table_args__ = (
        CheckConstraint("length(flag_bytes) IN (365, 366)", name="days"),
        CheckConstraint("length(value_bytes) = 4 * length(flag_bytes)", name="values"),
    )
    summed_names = ("basin_id", "product", "variable", "year", "unit")
    summed_contents = ("value_bytes", "flag_bytes")

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    product: Mapped[str] = mapped_column(primary_key=True)
    variable: Mapped[str] = mapped_column(primary_key=True)
    year: Mapped[int] = mapped_column(primary_key=True)
    unit: Mapped[str]
    value_bytes: Mapped[bytes]
    flag_bytes: Mapped[bytes]
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    revision: Mapped[int]
    updated_at: Mapped[datetime]
    checksum: Mapped[int] = mapped_column(Long)


class RevisionRow(Checksummed, Base):
    """The known days of a year that one write replaced: positions (uint16), old values and old flags.

    `revision` is that of the series row that was replaced.
    """

    __tablename__ = "series_revisions"
    __table_args__ = (
        CheckConstraint("length(flag_bytes) > 0", name="days"),
        CheckConstraint("length(offset_bytes) = 2 * length(flag_bytes)", name="offsets"),
        CheckConstraint("length(value_bytes) = 4 * length(flag_bytes)", name="values"),
    )
    summed_names = ("basin_id", "product", "variable", "year", "revision")
    summed_contents = ("offset_bytes", "value_bytes", "flag_bytes")

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    product: Mapped[str] = mapped_column(primary_key=True)
    variable: Mapped[str] = mapped_column(primary_key=True)
    year: Mapped[int] = mapped_column(primary_key=True)
    revision: Mapped[int] = mapped_column(primary_key=True)
    offset_bytes: Mapped[bytes]
    value_bytes: Mapped[bytes]
    flag_bytes: Mapped[bytes]
    old_source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    new_source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    replaced_at: Mapped[datetime]
    checksum: Mapped[int] = mapped_column(Long)


class ArrivalRow(Base):
    """A range of days that became known at one instant."""

    __tablename__ = "series_arrivals"
    __table_args__ = (
        CheckConstraint("first_day <= last_day", name="order"),
        Index(None, "basin_id", "product", "variable"),
        Index(None, "product", "last_day"),  # one row per day and series: the newest day is found without reading them
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"))
    product: Mapped[str]
    variable: Mapped[str]
    first_day: Mapped[Day]
    last_day: Mapped[Day]
    arrived_at: Mapped[datetime]
    source_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
