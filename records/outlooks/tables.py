"""Outlooks of runs."""

from sqlalchemy import ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from records.database.base import Base, PackedDocument
from records.outlooks.run_outlook import RunOutlook


class OutlookRow(Base):
    """The outlook of a run's forecast of a basin. It outlives the arrays that it was computed from."""

    __tablename__ = "outlooks"
    __table_args__ = (
        ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"]),
        Index(None, "basin_id", "has_season"),
    )

    run_id: Mapped[str] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    has_season: Mapped[bool]
    outlook: Mapped[RunOutlook] = mapped_column(PackedDocument(RunOutlook))
