"""Error models: how far a version's forecasts are from what is observed, of all basins and of each."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.calendar import Day
from records.tables.base import Base, Long
from records.tables.summed import Summed


class ErrorModelRow(Summed, Base):
    """What all basins share. Another fit replaces it; runs keep the fingerprint of the one that they used.

    `regional` is null in those from before it was kept.
    """

    __tablename__ = "error_models"
    __table_args__ = (
        CheckConstraint("first <= last", name="order"),
        CheckConstraint("length(sha256) = 64", name="sha256"),
    )
    summed_names = ("version_id", "weather")
    summed_contents = ("content", "regional")

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    weather: Mapped[str] = mapped_column(primary_key=True)
    first: Mapped[Day]
    last: Mapped[Day]
    days: Mapped[int] = mapped_column(Long)
    content: Mapped[bytes]
    sha256: Mapped[str]
    created_at: Mapped[datetime]
    regional: Mapped[bytes | None]
    for_unseen: Mapped[bool] = mapped_column(server_default=false())
    checksum: Mapped[int] = mapped_column(Long, server_default="0")


class BasinErrorsRow(Base):
    """The errors in one basin, which need not be kept here yet: a shipped error model knows more basins."""

    __tablename__ = "basin_errors"
    __table_args__ = (
        ForeignKeyConstraint(["version_id", "weather"], ["error_models.version_id", "error_models.weather"]),
        CheckConstraint("length(sha256) = 64", name="sha256"),
    )

    version_id: Mapped[str] = mapped_column(primary_key=True)
    weather: Mapped[str] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    days: Mapped[int]
    content: Mapped[bytes]
    sha256: Mapped[str]
