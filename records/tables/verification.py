"""How true the forecasts of a version were, by lead and season, beside those of its rivals."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.calendar import Day
from hydrology.verified import Reliability
from records.tables.base import Base, Document, JsonList, JsonObject, one_of


class VerificationRow(Base):
    """The scores of one forecaster at one lead in one season; `missing` has the reason for each that is null."""

    __tablename__ = "verification"
    __table_args__ = (
        CheckConstraint("first_day <= last_day", name="order"),
        CheckConstraint("lead >= 1", name="lead"),
        CheckConstraint("n >= 0", name="n"),
        CheckConstraint("every_days >= 1", name="every_days"),
        one_of("origin", "reforecast", "issued"),
    )

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    first_day: Mapped[Day] = mapped_column(primary_key=True)
    last_day: Mapped[Day] = mapped_column(primary_key=True)
    forecaster: Mapped[str] = mapped_column(primary_key=True)
    lead: Mapped[int] = mapped_column(primary_key=True)
    season: Mapped[str] = mapped_column(primary_key=True)
    every_days: Mapped[int | None]
    error_model: Mapped[str | None]
    attributes_assumed: Mapped[JsonList]
    verified_at: Mapped[datetime]
    n: Mapped[int]
    years: Mapped[int]
    crps_mm_per_day: Mapped[float | None]
    crpss_climatology: Mapped[float | None]
    crpss_climatology_low: Mapped[float | None]
    crpss_climatology_high: Mapped[float | None]
    crpss_persistence: Mapped[float | None]
    crpss_persistence_low: Mapped[float | None]
    crpss_persistence_high: Mapped[float | None]
    coverage_90: Mapped[float | None]
    coverage_90_low: Mapped[float | None]
    coverage_90_high: Mapped[float | None]
    coverage_50: Mapped[float | None]
    width_90_mm_per_day: Mapped[float | None]
    width_50_mm_per_day: Mapped[float | None]
    nse_of_median: Mapped[float | None]
    threshold_mm_per_day: Mapped[float | None]
    brier: Mapped[float | None]
    pod: Mapped[float | None]
    far: Mapped[float | None]
    csi: Mapped[float | None]
    pit: Mapped[JsonList | None]
    reliability: Mapped[Reliability | None] = mapped_column(Document(Reliability))
    missing: Mapped[JsonObject]
    origin: Mapped[str] = mapped_column(primary_key=True)
    weather: Mapped[str] = mapped_column(primary_key=True)
