"""Basins and their properties."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from records.database.base import Base, FreeText, JsonList


class BasinRow(Base):
    """A basin."""

    __tablename__ = "basins"
    __table_args__ = (
        CheckConstraint("latitude BETWEEN -90 AND 90", name="latitude"),
        CheckConstraint("longitude BETWEEN -180 AND 180", name="longitude"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[FreeText | None]
    latitude: Mapped[float | None]
    longitude: Mapped[float | None]
    huc: Mapped[str | None]
    # The API key that registered a user's basin; null: the service's. Not a foreign key: keys are revoked, not deleted.
    registered_by: Mapped[str | None]
    # [latitude, longitude] of each point that its weather is averaged over; null: only the gauge.
    weather_points: Mapped[JsonList | None]
    # Outer rings, simplified, of [latitude, longitude]; null: not known.
    outline: Mapped[JsonList | None]
    # Whether an operator allows missing attributes to be assumed; null: not set.
    assume_attributes: Mapped[bool | None]
    # The operator's key whose basin it was before an administrator adopted it.
    adopted_from: Mapped[str | None]


class AreaRow(Base):
    """A basin's area by one of its sources, m2."""

    __tablename__ = "basin_areas"
    __table_args__ = (CheckConstraint("value > 0", name="positive"),)

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]


class AttributeRow(Base):
    """A numeric attribute of a basin."""

    __tablename__ = "basin_attributes"

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[float]


class TextRow(Base):
    """A categorical attribute of a basin."""

    __tablename__ = "basin_texts"

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    name: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class QualityRow(Base):
    """A finding on a basin's data of one product: an error or an oddity."""

    __tablename__ = "basin_quality"

    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    product: Mapped[str] = mapped_column(primary_key=True)
    findings: Mapped[JsonList]
    found_at: Mapped[datetime]
