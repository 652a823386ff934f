"""How true the forecasts of versions were: by basin, period, forecaster, lead and season."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from datetime import datetime
from itertools import groupby
from typing import Any, Literal

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from hydrology.base.calendar import Day, Period
from hydrology.scores.paired_comparison import Quartiles, quartiles
from hydrology.verification.results import ALL_YEAR, Verification
from records.database.statements import add_all, as_record, as_values
from records.verification.tables import VerificationRow

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
Origin = Literal["reforecast", "issued"]
"""Where forecasts come from: made afterwards of past days, or as the service issued them."""
_GROUP = ("origin", "weather", "first_day", "last_day", "season", "lead", "forecaster")


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinVerification:
    """How true a forecaster was in a basin.

    Attributes:
        version_id: whose forecasts it stands beside, if they are not its own.
        weather: after T0: `observed`, `climatology`, or a weather forecast's source and model
            (`error_models.of_weather`).
        first_day, last_day: the period that T0 and the days that were forecast lie in.
        forecaster: one of `hydrology.verification.reforecasts.FORECASTERS`.
        lead: days after T0.
        season: one of `hydrology.verification.results.SEASONS`, of the day that was forecast.
        every_days: so many days lie between two T0; None where forecasts were issued as they came.
        error_model: the fingerprint of the one that made the forecasts, the newest where there were several; None where
            none did.
        attributes_assumed: the attributes of the basin that were assumed in the simulation.
    """

    version_id: str
    basin_id: str
    origin: Origin
    weather: str
    first_day: Day
    last_day: Day
    forecaster: str
    lead: int
    season: str
    every_days: int | None
    error_model: str | None
    attributes_assumed: list[str]
    scores: Verification
    verified_at: datetime


@dataclass(frozen=True, slots=True)
class PooledVerification:
    """How true a forecaster was over basins.

    Attributes:
        version_id, origin, weather: as in `BasinVerification`.
        basins: in how many it was judged.
        scores: the quartiles of each of `POOLED`, over those basins that have it.
        missing: why none of the basins has a score, by its name: the most frequent reason.
    """

    version_id: str
    origin: Origin
    weather: str
    period: Period
    season: str
    lead: int
    forecaster: str
    basins: int
    scores: Mapping[str, Quartiles]
    missing: Mapping[str, str]


def replace(session: Session, rows: Sequence[BasinVerification]) -> None:
    """Keep what reforecasts of a version in a basin over a period came to, in place of all that was kept of them."""
    of = {(row.version_id, row.basin_id, row.first_day, row.last_day) for row in rows}
    for version, basin, first, last in of:
        key = {"version_id": version, "basin_id": basin, "first_day": first, "last_day": last}
        session.execute(delete(VerificationRow).filter_by(**key, origin="reforecast"))
    _add(session, rows)


def replace_issued(session: Session, version: str, basin: str, rows: Sequence[BasinVerification]) -> bool:
    """Keep what the issued forecasts of a version in a basin came to, in place of all that was kept of them.

    Returns:
        Whether anything is new: the same scores write nothing.
    """
    key = {"version_id": version, "basin_id": basin, "origin": "issued"}
    before = {_key(row): _record(row) for row in session.scalars(select(VerificationRow).filter_by(**key))}
    same = {_key(row): changed(row, verified_at=before[_key(row)].verified_at) for row in rows if _key(row) in before}
    if len(rows) == len(before) and same == before:
        return False
    session.execute(delete(VerificationRow).filter_by(**key))
    _add(session, rows)
    return True


def of_basin(session: Session, version: str, basin: str, season: str = ALL_YEAR) -> list[BasinVerification]:
    """Return what is kept of a version in a basin, by origin, weather, period, lead and forecaster."""
    query = select(VerificationRow).filter_by(version_id=version, basin_id=basin, season=season)
    rows = session.scalars(query.order_by(*(getattr(VerificationRow, name) for name in _GROUP)))
    return [_record(row) for row in rows]


def pooled(
    session: Session,
    version: str,
    season: str = ALL_YEAR,
    *,
    origin: Origin | None = None,
    period: Period | None = None,
    basins: Sequence[str] | None = None,
) -> list[PooledVerification]:
    """Return the quartiles of a version's scores over basins, by origin, weather, period, lead and forecaster.

    Args:
        origin, period, basins: only these; all that are kept unless given.
    """
    group = [getattr(VerificationRow, name) for name in _GROUP]
    query = select(*group, VerificationRow.missing, *(getattr(VerificationRow, name) for name in POOLED))
    query = query.filter_by(version_id=version, season=season).order_by(*group)
    if origin is not None:
        query = query.filter_by(origin=origin)
    if period is not None:
        query = query.filter_by(first_day=period.first, last_day=period.last)
    if basins is not None:
        query = query.where(VerificationRow.basin_id.in_(basins))
    return [
        _pooled(version, key, [row[len(_GROUP) :] for row in rows])
        for key, rows in groupby(session.execute(query), lambda row: tuple(row[: len(_GROUP)]))
    ]


def _add(session: Session, rows: Sequence[BasinVerification]) -> None:
    add_all(session, VerificationRow, (as_values(row, "scores") | as_values(row.scores) for row in rows))


def _key(row: BasinVerification | VerificationRow) -> tuple[object, ...]:
    """Return by what a row is told from the others of its version and basin."""
    return tuple(getattr(row, name) for name in _GROUP)


def _record(row: VerificationRow) -> BasinVerification:
    scores = as_record(Verification, row, pit=None if row.pit is None else tuple(row.pit))
    return as_record(BasinVerification, row, scores=scores)


def _pooled(
    version: str, key: tuple[Origin, str, Day, Day, str, int, str], rows: Sequence[Sequence[Any]]
) -> PooledVerification:
    origin, weather, first, last, season, lead, forecaster = key
    reasons, *columns = zip(*rows, strict=True)
    by_score = zip(POOLED, columns, strict=True)
    scores = {name: quartiles([value for value in values if value is not None]) for name, values in by_score}
    missing = {
        name: Counter(of_basin[name] for of_basin in reasons).most_common(1)[0][0]
        for name, of_score in scores.items()
        if not of_score.n
    }
    period = Period(first, last)
    return PooledVerification(version, origin, weather, period, season, lead, forecaster, len(rows), scores, missing)
