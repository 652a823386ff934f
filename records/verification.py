"""How true the forecasts of versions were: by basin, period, forecaster, lead and season."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from hydrology.calendar import Day, Period
from hydrology.paired import Quartiles, quartiles
from hydrology.verified import ALL_YEAR, Verification
from records.statements import add_all, as_record, as_values
from records.tables.verification import VerificationRow

POOLED = (
    "crps_mm_per_day",
    "crpss_climatology",
    "crpss_persistence",
    "coverage_90",
    "coverage_50",
    "width_90_mm_per_day",
    "width_50_mm_per_day",
    "nse_of_median",
    "brier",
    "pod",
    "far",
    "csi",
)
"""The scores that are told over basins."""
_GROUP = ("first_day", "last_day", "season", "lead", "forecaster")


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinVerification:
    """How true a forecaster was in a basin.

    Attributes:
        version_id: whose forecasts it stands beside, if they are not its own.
        first_day, last_day: the period that T0 and the days that were forecast lie in.
        forecaster: one of `hydrology.reforecasts.FORECASTERS`.
        lead: days after T0.
        season: one of `hydrology.verified.SEASONS`, of the day that was forecast.
        every_days: so many days lie between two T0.
        error_model: the fingerprint of the one that made the forecasts; None where none did.
        attributes_assumed: the attributes of the basin that were assumed in the simulation.
    """

    version_id: str
    basin_id: str
    first_day: Day
    last_day: Day
    forecaster: str
    lead: int
    season: str
    every_days: int
    error_model: str | None
    attributes_assumed: list[str]
    scores: Verification
    verified_at: datetime


@dataclass(frozen=True, slots=True)
class PooledVerification:
    """How true a forecaster was over basins.

    Attributes:
        basins: in how many it was judged.
        scores: the quartiles of each of `POOLED`, over those basins that have it.
    """

    period: Period
    season: str
    lead: int
    forecaster: str
    basins: int
    scores: Mapping[str, Quartiles]


def replace(session: Session, rows: Sequence[BasinVerification]) -> None:
    """Keep what is known of a version in a basin over a period, in place of all that was kept of these three."""
    of = {(row.version_id, row.basin_id, row.first_day, row.last_day) for row in rows}
    for version, basin, first, last in of:
        key = {"version_id": version, "basin_id": basin, "first_day": first, "last_day": last}
        session.execute(delete(VerificationRow).filter_by(**key))
    add_all(session, VerificationRow, (as_values(row, "scores") | as_values(row.scores) for row in rows))


def of_basin(session: Session, version: str, basin: str, season: str = ALL_YEAR) -> list[BasinVerification]:
    """Return what is kept of a version in a basin, by period, lead and forecaster."""
    query = select(VerificationRow).filter_by(version_id=version, basin_id=basin, season=season)
    rows = session.scalars(query.order_by(*(getattr(VerificationRow, name) for name in _GROUP)))
    return [as_record(BasinVerification, row, scores=_scores(row)) for row in rows]


def pooled(
    session: Session,
    version: str,
    season: str = ALL_YEAR,
    *,
    period: Period | None = None,
    basins: Sequence[str] | None = None,
) -> list[PooledVerification]:
    """Return the quartiles of a version's scores over basins, by period, lead and forecaster.

    Args:
        period, basins: only these; all that are kept unless given.
    """
    group = [getattr(VerificationRow, name) for name in _GROUP]
    query = select(*group, *(getattr(VerificationRow, name) for name in POOLED))
    query = query.filter_by(version_id=version, season=season).order_by(*group)
    if period is not None:
        query = query.filter_by(first_day=period.first, last_day=period.last)
    if basins is not None:
        query = query.where(VerificationRow.basin_id.in_(basins))
    return [
        _pooled(key, [row[len(_GROUP) :] for row in rows])
        for key, rows in groupby(session.execute(query), lambda row: tuple(row[: len(_GROUP)]))
    ]


def _scores(row: VerificationRow) -> Verification:
    return as_record(Verification, row, pit=None if row.pit is None else tuple(row.pit))


def _pooled(key: tuple[Day, Day, str, int, str], rows: Sequence[Sequence[float | None]]) -> PooledVerification:
    first, last, season, lead, forecaster = key
    by_score = zip(POOLED, zip(*rows, strict=True), strict=True)
    scores = {name: quartiles([value for value in values if value is not None]) for name, values in by_score}
    return PooledVerification(Period(first, last), season, lead, forecaster, len(rows), scores)
