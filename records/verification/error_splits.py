"""The errors of verified forecasts, split by cause: one row for each run and basin, written once."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, Select, func, select
from sqlalchemy.orm import Session

from hydrology.attribution import CAUSES, ErrorSplit, Measure
from hydrology.base.calendar import Day, Period
from hydrology.verification.results import ALL_YEAR, Season
from records.database.stored import Columns, add_all, as_values, narrowed, read, stored, table_of

MEASURES: tuple[Measure, ...] = ("volume", "peak")


@stored(
    "error_splits",
    CheckConstraint("horizon_days >= 1", name="horizon"),
    ForeignKeyConstraint(["run_id", "basin_id"], ["run_basins.run_id", "run_basins.basin_id"]),
    Index(None, "version_id", "season", "t0"),
    Index(None, "basin_id"),
    key=("run_id", "basin_id"),
)
class ForecastError:
    """The error of a run's forecast of a basin over its days ahead.

    Attributes:
        weather: after T0, as in `records.verification.lead_scores.BasinVerification`.
        season: of the first day ahead.
        volume: of all days, mm; peak: of the highest day of the members' mean, mm/day.
    """

    run_id: str
    basin_id: str
    version_id: Annotated[str, ForeignKey("versions.id")]
    t0: Day
    horizon_days: int
    weather: str
    season: str
    volume: Annotated[ErrorSplit, Columns("volume_")]
    peak: Annotated[ErrorSplit, Columns("peak_")]
    verified_at: datetime


ERROR_SPLITS = table_of(ForecastError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFilter:
    """Restrictions of the forecasts; None for all."""

    version: str | None = None
    basin: str | None = None
    season: Season = ALL_YEAR
    t0: Period | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanError:
    """The mean size of an error and of its parts, over forecasts. Sizes do not add up: parts cancel each other."""

    error: float
    weather: float
    initial_state: float
    network: float


def store(session: Session, errors: Iterable[ForecastError]) -> None:
    """Store the errors of forecasts that have none stored."""
    add_all(session, ForecastError, map(as_values, errors))


def split_basins(session: Session, runs: Collection[str]) -> set[tuple[str, str]]:
    """Return the stored ones of some runs, as pairs of run and basin."""
    of_runs = ERROR_SPLITS.c.run_id.in_(runs)
    rows = session.execute(select(ERROR_SPLITS.c.run_id, ERROR_SPLITS.c.basin_id).where(of_runs))
    return {(run, basin) for run, basin in rows}


def worst(session: Session, measure: Measure, chosen: ErrorFilter, limit: int) -> list[ForecastError]:
    """Return the forecasts with the largest errors, over or under, the largest first. Of a basin's forecasts whose days
    overlap only the worst is among them, since they missed the same event."""
    size = func.abs(ERROR_SPLITS.c[f"{measure}_error"])
    found: list[ForecastError] = []
    days: dict[str, list[Period]] = {}
    for error in read(session, ForecastError, _restricted(select(ERROR_SPLITS), chosen).order_by(size.desc())):
        ahead = Period(error.t0 + 1, error.t0 + error.horizon_days)
        if any(ahead.overlap(other) for other in days.setdefault(error.basin_id, [])):
            continue
        days[error.basin_id].append(ahead)
        found.append(error)
        if len(found) == limit:
            break
    return found


def every(session: Session, chosen: ErrorFilter) -> list[ForecastError]:
    query = _restricted(select(ERROR_SPLITS), chosen).order_by(ERROR_SPLITS.c.t0, ERROR_SPLITS.c.basin_id)
    return read(session, ForecastError, query)


def count(session: Session, chosen: ErrorFilter) -> int:
    return session.scalar(_restricted(select(func.count()).select_from(ERROR_SPLITS), chosen)) or 0


def means(session: Session, chosen: ErrorFilter) -> Mapping[Measure, MeanError] | None:
    """Return the mean absolute error and parts by measure; None without a forecast."""
    names = ("error", *CAUSES)
    columns = [func.avg(func.abs(ERROR_SPLITS.c[f"{of}_{name}"])) for of in MEASURES for name in names]
    values: Sequence[Any] = session.execute(_restricted(select(*columns), chosen)).one()
    if values[0] is None:
        return None
    halves = values[: len(names)], values[len(names) :]
    return {
        of: MeanError(**dict(zip(names, map(float, half), strict=True)))
        for of, half in zip(MEASURES, halves, strict=True)
    }


def _restricted(query: Select[Any], chosen: ErrorFilter) -> Select[Any]:
    return narrowed(
        query,
        (ERROR_SPLITS.c.version_id.__eq__, chosen.version),
        (ERROR_SPLITS.c.basin_id.__eq__, chosen.basin),
        (ERROR_SPLITS.c.season.__eq__, None if chosen.season == ALL_YEAR else chosen.season),
        (lambda days: ERROR_SPLITS.c.t0.between(days.first, days.last), chosen.t0),
    )
