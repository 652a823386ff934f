"""Model states: what a version's cells hold at the end of a day in a basin."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.calendar import Day
from records.tables.base import Base, JsonList, JsonObject, Long
from records.tables.summed import Summed


class StateRow(Summed, Base):
    """The state of all members after they consumed a day, chained to its parent and its inputs."""

    __tablename__ = "states"
    __table_args__ = (
        CheckConstraint("(invalid_at IS NULL) = (invalid_reason IS NULL)", name="invalid"),
        CheckConstraint("(parent_day IS NULL) = (parent_hash IS NULL)", name="parent"),
        CheckConstraint("parent_day < day", name="order"),
        Index(None, "basin_id", "product", "day"),
        # What is asked of a state without its content: which is the newest that is valid, and which are outdated.
        Index(None, "version_id", "basin_id", "day", "invalid_at", "created_at"),
    )
    summed_names = ("version_id", "basin_id", "day")
    summed_contents = ("content", "sums", "recent_flow")

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    day: Mapped[Day] = mapped_column(primary_key=True)
    product: Mapped[str]
    variant: Mapped[JsonObject]
    content: Mapped[bytes]
    member_hashes: Mapped[JsonList]
    sha256: Mapped[str]
    parent_day: Mapped[Day | None]
    parent_hash: Mapped[str | None]
    inputs_hash: Mapped[str]
    created_at: Mapped[datetime]
    invalid_at: Mapped[datetime | None]
    invalid_reason: Mapped[str | None]
    spin_up_days: Mapped[int | None]
    sums: Mapped[bytes | None]
    sums_hash: Mapped[str | None]
    recent_flow: Mapped[bytes | None]
    checksum: Mapped[int] = mapped_column(Long, server_default="0")
