"""Scores, snow cells, lead-time scores, comparisons and published scores."""

from collections.abc import Mapping
from datetime import datetime
from typing import get_args

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.verification.held_out_years import PeriodUse
from hydrology.verification.results import MonthSkill, Reliability
from records.database.base import Base, Document, JsonList, JsonObject, one_of
from records.verification.comparison_results import ComparisonResult


class PublicationRow(Base):
    """The origin of published scores."""

    __tablename__ = "publications"

    source: Mapped[str] = mapped_column(primary_key=True)
    citation: Mapped[str]
    file_id: Mapped[int] = mapped_column(ForeignKey("sources.id"))
    stored_at: Mapped[datetime]


class PublishedScoreRow(Base):
    """One published score, with a value or a reason."""

    __tablename__ = "published_scores"
    __table_args__ = (
        CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name="reason"),
        CheckConstraint("first_day <= last_day", name="order"),
    )

    source: Mapped[str] = mapped_column(ForeignKey("publications.source"), primary_key=True)
    model: Mapped[str] = mapped_column(primary_key=True)
    # Not a foreign key: published scores are stored whether or not the gauge's data are.
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    metric: Mapped[str] = mapped_column(primary_key=True)
    first_day: Mapped[Day] = mapped_column(primary_key=True)
    last_day: Mapped[Day] = mapped_column(primary_key=True)
    value: Mapped[float | None]
    reason: Mapped[Absent | None]


class ComparisonRow(Base):
    """A comparison; an equal one is the same row."""

    __tablename__ = "comparisons"
    __table_args__ = (
        UniqueConstraint("fingerprint"),
        CheckConstraint("first_day <= last_day", name="order"),
        CheckConstraint("length(fingerprint) = 64", name="fingerprint"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    created_at: Mapped[datetime]
    first_day: Mapped[Day]
    last_day: Mapped[Day]
    basins: Mapped[JsonList]
    result: Mapped[ComparisonResult] = mapped_column(Document(ComparisonResult))
    fingerprint: Mapped[str]
    # The operator's key that posted it; null for the service's. Not a foreign key: keys are revoked, never deleted.
    owner: Mapped[str | None]


class ComparisonVersionRow(Base):
    """A version of a comparison. The others are compared with that of position 0."""

    __tablename__ = "comparison_versions"
    __table_args__ = (
        UniqueConstraint("comparison_id", "version_id"),
        CheckConstraint("position >= 0", name="position"),
        Index(None, "version_id"),
    )

    comparison_id: Mapped[str] = mapped_column(ForeignKey("comparisons.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))


class ScoreRow(Base):
    """One score under its full key: `all` for an unused key part, a reason without a value."""

    __tablename__ = "scores"
    __table_args__ = (
        CheckConstraint("(value IS NULL) = (reason IS NOT NULL)", name="reason"),
        CheckConstraint("first_day <= last_day", name="order"),
        CheckConstraint("n >= 0", name="n"),
        CheckConstraint("low <= high", name="interval"),
        one_of("period_use", *get_args(PeriodUse)),
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
    reason: Mapped[Absent | None]
    low: Mapped[float | None]
    high: Mapped[float | None]
    evaluated_at: Mapped[datetime]
    attributes_assumed: Mapped[JsonList]
    shipped: Mapped[bool]
    # In this basin, by the version whose score it is.
    period_use: Mapped[str]


class SnowCellsRow(Base):
    """The snow cells of each member, whose sum follows a reference snow series, and their skill."""

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
    reason: Mapped[Absent | None]
    evaluated_at: Mapped[datetime]
    # Null where the reference has snow on every test day.
    bare_mm: Mapped[float | None]


class RegionalSnowRow(Base):
    """The snow cells of each member for basins without a reference
    (`records.simulations.regional_snow_cells`)."""

    __tablename__ = "regional_snow"

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    content: Mapped[JsonObject]
    evaluated_at: Mapped[datetime]


class VerificationRow(Base):
    """The scores of one forecaster, lead and season; `missing` has the reason for each null."""

    __tablename__ = "verification"
    __table_args__ = (
        CheckConstraint("first_day <= last_day", name="order"),
        CheckConstraint("lead >= 1", name="lead"),
        CheckConstraint("n >= 0", name="n"),
        CheckConstraint("every_days >= 1", name="every_days"),
        one_of("origin", "reforecast", "issued"),
        one_of("period_use", *get_args(PeriodUse)),
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
    months: Mapped[tuple[MonthSkill, ...] | None] = mapped_column(Document(tuple[MonthSkill, ...]))
    missing: Mapped[Mapping[str, Absent]] = mapped_column(Document(dict[str, Absent]))
    origin: Mapped[str] = mapped_column(primary_key=True)
    weather: Mapped[str] = mapped_column(primary_key=True)
    # Of the days that count: those that the training used are left out, and a reforecast has none.
    period_use: Mapped[str]
    # Null where it was verified before they were counted.
    independent_issues: Mapped[int | None]


class ErrorSplitRow(Base):
    """The error of a run's forecast of a basin, of its volume (mm) and peak (mm/day), split by cause."""

    __tablename__ = "error_splits"
    __table_args__ = (
        CheckConstraint("horizon_days >= 1", name="horizon"),
        ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"]),
        Index(None, "version_id", "season", "t0"),
        Index(None, "basin_id"),
    )

    run_id: Mapped[str] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
    t0: Mapped[Day]
    horizon_days: Mapped[int]
    weather: Mapped[str]
    season: Mapped[str]
    volume_observed: Mapped[float]
    volume_error: Mapped[float]
    volume_weather: Mapped[float]
    volume_initial_state: Mapped[float]
    volume_network: Mapped[float]
    peak_observed: Mapped[float]
    peak_error: Mapped[float]
    peak_weather: Mapped[float]
    peak_initial_state: Mapped[float]
    peak_network: Mapped[float]
    verified_at: Mapped[datetime]
