"""Forecast runs, their contents, and model states."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index
from sqlalchemy.orm import Mapped, mapped_column

from hydrology.base.absent import Absent
from hydrology.base.calendar import Day
from hydrology.weather.forcing_kinds import KINDS
from records.database.base import Base, Document, JsonList, JsonObject, Long, PackedDocument, one_of
from records.database.checksums import Checksummed
from records.runs.run_summary import RunSummary
from records.runs.run_weather import RunWeather, RunWhatIf

_EXPECTED = " AND ".join(f"forcing_kind <> '{name}'" for name, kind in KINDS.items() if kind.hypothetical)


class RunRow(Base):
    """A forecast run of one version from one T0."""

    __tablename__ = "runs"
    __table_args__ = (
        one_of("forcing_kind", *KINDS),
        CheckConstraint(f"{_EXPECTED} OR purpose = 'what-if'", name="imagined"),
        one_of("status", "issued", "partial", "failed"),
        CheckConstraint("(status = 'issued') = (reason IS NULL)", name="reason"),
        CheckConstraint("horizon_days > 0", name="horizon"),
        CheckConstraint("filled_days BETWEEN 0 AND horizon_days - 1", name="filled"),
        CheckConstraint("available_at >= issued_at", name="available"),
        CheckConstraint("owner IS NULL OR purpose <> 'operational'", name="owner"),
        Index(None, "version_id", "purpose", "t0"),
        Index(None, "request_key"),
    )

    id: Mapped[str] = mapped_column(primary_key=True)
    t0: Mapped[Day]
    horizon_days: Mapped[int]
    issued_at: Mapped[datetime]
    available_at: Mapped[datetime]
    created_at: Mapped[datetime]
    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"))
    weights_hash: Mapped[str]
    code_version: Mapped[str]
    product: Mapped[str]
    forcing_kind: Mapped[str]
    forcing_cutoff: Mapped[Day | None]
    purpose: Mapped[str]
    members: Mapped[JsonList]
    status: Mapped[str]
    reason: Mapped[Absent | None]
    request_key: Mapped[str | None]
    program: Mapped[str]
    weather: Mapped[RunWeather | None] = mapped_column(Document(RunWeather))
    what_if: Mapped[RunWhatIf | None] = mapped_column(Document(RunWhatIf))
    # The operator's key that posted it; null for the service's. Not a foreign key: keys are revoked, never deleted.
    owner: Mapped[str | None]
    # How many days T0 lay before the clock's day, and whether that is too many for a T0 that nobody named.
    t0_age_days: Mapped[int]
    t0_stale: Mapped[bool]
    filled_days: Mapped[int]


class RunBasinRow(Base):
    """A run's content for one basin. The closure is that of the member whose ledger closes worst. The database itself
    refuses a claim that the numbers contradict, and an issued basin with an open ledger."""

    __tablename__ = "run_basins"
    __table_args__ = (
        one_of("status", "issued", "withheld", "failed"),
        CheckConstraint("(status = 'issued') = (reason IS NULL)", name="reason"),
        CheckConstraint("(parent_day IS NULL) = (parent_hash IS NULL)", name="parent"),
        CheckConstraint("(area_m2 IS NULL) = (area_name IS NULL)", name="area"),
        CheckConstraint("area_m2 > 0", name="area_positive"),
        CheckConstraint("closes = (abs(residual_mm) <= tolerance_mm)", name="closes"),
        CheckConstraint("status <> 'issued' OR closes", name="open"),
        Index(None, "basin_id"),
    )

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(ForeignKey("basins.id"), primary_key=True)
    status: Mapped[str]
    reason: Mapped[Absent | None]
    parent_day: Mapped[Day | None]
    parent_hash: Mapped[str | None]
    state_hash: Mapped[str | None]
    inputs_hash: Mapped[str | None]
    area_m2: Mapped[float | None]
    area_name: Mapped[str | None]
    spin_up_days: Mapped[int | None]
    residual_mm: Mapped[float | None]
    tolerance_mm: Mapped[float | None]
    closes: Mapped[bool | None]
    summary: Mapped[RunSummary] = mapped_column(PackedDocument(RunSummary))


def _of_run_basin() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"])


class NewestRunRow(Base):
    """A version's newest operational run of a basin, whatever its outcome (`tried`), and the newest that can be its
    latest forecast: one row each for the most frequent query of an archive of any length."""

    __tablename__ = "newest_runs"
    __table_args__ = (
        one_of("which", "tried", "latest"),
        _of_run_basin(),
    )

    version_id: Mapped[str] = mapped_column(ForeignKey("versions.id"), primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    which: Mapped[str] = mapped_column(primary_key=True)
    run_id: Mapped[str]
    t0: Mapped[Day]
    issued_at: Mapped[datetime]
    available_at: Mapped[datetime]


class RunContentRow(Base):
    """The arrays of a run and the ledgers of its members, packed and with their digest (`records.runs.run_arrays`)."""

    __tablename__ = "run_contents"
    __table_args__ = (_of_run_basin(),)

    run_id: Mapped[str] = mapped_column(primary_key=True)
    basin_id: Mapped[str] = mapped_column(primary_key=True)
    content: Mapped[bytes]


class StateRow(Checksummed, Base):
    """The state of all members after a day, linked to its parent and its inputs."""

    __tablename__ = "states"
    __table_args__ = (
        CheckConstraint("(invalid_at IS NULL) = (invalid_reason IS NULL)", name="invalid"),
        CheckConstraint("(parent_day IS NULL) = (parent_hash IS NULL)", name="parent"),
        CheckConstraint("parent_day < day", name="order"),
        Index(None, "basin_id", "product", "day"),
        # For queries without a state's content: the newest valid one, and the outdated ones.
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
    invalid_reason: Mapped[Absent | None]
    spin_up_days: Mapped[int]
    sums: Mapped[bytes | None]
    sums_hash: Mapped[str | None]
    recent_flow: Mapped[bytes | None]
    checksum: Mapped[int] = mapped_column(Long)
