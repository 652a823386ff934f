"""Weather forecasts: what a source issued, and its traces for each basin. Neither ever changes."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.calendar import Day
from records.tables.base import Base, JsonList


class WeatherIssueRow(Base):
    """A weather forecast that a source issued, of whatever basins."""

    __tablename__ = "weather_issues"
    __table_args__ = (UniqueConstraint("source", "model", "reference_time", "operational"),)

    id: Mapped[str] = mapped_column(primary_key=True)
    source: Mapped[str]
    model: Mapped[str]
    reference_time: Mapped[datetime]
    operational: Mapped[bool]
    licence: Mapped[str | None]
    credit: Mapped[str | None]
    created_at: Mapped[datetime]


class WeatherBasinRow(Base):
    """Its traces for one basin: float32, little-endian, row-major over variables, traces and days."""

    __tablename__ = "weather_basins"
    __table_args__ = (CheckConstraint("last >= first", name="days"), Index(None, "basin_id", "first"))

    issue_id: Mapped[str] = mapped_column(ForeignKey("weather_issues.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    available_time: Mapped[datetime]
    first: Mapped[Day]
    last: Mapped[Day]
    traces: Mapped[JsonList]
    variables: Mapped[JsonList]
    content: Mapped[bytes]
    sha256: Mapped[str]
