"""Forecast skill of versions: by basin, period, forecaster, lead and season."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from datetime import datetime
from itertools import groupby
from typing import Any, Literal

from sqlalchemy import JSON, delete, select, type_coerce
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.scores.paired_comparison import Quartiles, quartiles
from hydrology.verification.held_out_years import PeriodUse
from hydrology.verification.results import ALL_YEAR, Verification
from records.database.base import JsonObject
from records.database.json_columns import from_json
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
"""The scores that are reported over basins."""
Origin = Literal["reforecast", "issued"]
"""Origin of forecasts: computed afterwards for past days, or issued by the service."""
_GROUP = ("origin", "weather", "first_day", "last_day", "season", "lead", "forecaster", "period_use")


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinVerification:
    """Verification of a forecaster in a basin.

    Attributes:
        version_id: the version that issued the forecasts, or that they are compared with.
        weather: after T0: `observed`, `climatology`, or a weather forecast's source and model
            (`run_request.name_of_weather`).
        first_day, last_day: the period that contains T0 and the forecast days.
        forecaster: one of `hydrology.verification.reforecasts.FORECASTERS`, or of adjusted forecasts
            (`hydrology.verification.issued_forecasts`).
        lead: days after T0.
        season: one of `hydrology.verification.results.SEASONS`, of the forecast day.
        every_days: days from one T0 to the next; None for forecasts issued in operation.
        error_model: the fingerprint of the forecasts' error model, the newest of several; None without one.
        attributes_assumed: the attributes of the basin that were assumed in the simulation.
        period_use: how the training used the days that count: not at all, where it states its own.
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
    period_use: PeriodUse
    scores: Verification
    verified_at: datetime


@dataclass(frozen=True, slots=True)
class PooledVerification:
    """Verification of a forecaster over basins.

    Attributes:
        version_id, origin, weather, period_use: as in `BasinVerification`.
        basins: number of verified basins.
        scores: the quartiles of each of `POOLED`, over the basins that have it.
        missing: by score, the most frequent reason why no basin has it.
    """

    version_id: str
    origin: Origin
    weather: str
    period: Period
    season: str
    lead: int
    forecaster: str
    period_use: PeriodUse
    basins: int
    scores: Mapping[str, Quartiles]
    missing: Mapping[str, Absent]


def replace(session: Session, rows: Sequence[BasinVerification]) -> None:
    """Store a reforecast's verification in a basin and period. It replaces all earlier rows."""
    of = {(row.version_id, row.basin_id, row.first_day, row.last_day) for row in rows}
    for version, basin, first, last in of:
        key = {"version_id": version, "basin_id": basin, "first_day": first, "last_day": last}
        session.execute(delete(VerificationRow).filter_by(**key, origin="reforecast"))
    _add(session, rows)


def replace_issued(session: Session, version: str, basin: str, rows: Sequence[BasinVerification]) -> bool:
    """Store the verification of issued forecasts in a basin. It replaces all earlier rows.

    Returns:
        Whether anything changed: equal scores are not written again.
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
    """Return a version's verification in a basin, sorted by key."""
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
    """Return the quartiles of a version's scores over basins, sorted by key.

    Args:
        origin, period, basins: restrict to these; by default all that are stored.
    """
    group = [getattr(VerificationRow, name) for name in _GROUP]
    reasons = type_coerce(VerificationRow.missing, JSON)  # read only for scores that no basin has
    query = select(*group, reasons, *(getattr(VerificationRow, name) for name in POOLED))
    chosen: dict[str, Any] = {"version_id": version, "season": season}
    if origin is not None:
        chosen["origin"] = origin
    if period is not None:
        chosen |= {"first_day": period.first, "last_day": period.last}
    query = query.where(*(getattr(VerificationRow, name) == value for name, value in chosen.items())).order_by(*group)
    if basins is not None:
        query = query.where(VerificationRow.basin_id.in_(basins))
    return [
        _pooled(version, key, [row[len(_GROUP) :] for row in rows])
        for key, rows in groupby(session.execute(query), lambda row: tuple(row[: len(_GROUP)]))
    ]


def _add(session: Session, rows: Sequence[BasinVerification]) -> None:
    add_all(session, VerificationRow, (as_values(row, "scores") | as_values(row.scores) for row in rows))


def _key(row: BasinVerification | VerificationRow) -> tuple[object, ...]:
    """Return the row's key within its version and basin."""
    return tuple(getattr(row, name) for name in _GROUP)


def _record(row: VerificationRow) -> BasinVerification:
    pit = None if row.pit is None else tuple(row.pit)
    uncounted = {} if row.independent_issues is not None else {"independent_issues": absent(Reason.ISSUES_NOT_COUNTED)}
    scores = as_record(Verification, row, pit=pit, missing={**row.missing, **uncounted})
    return as_record(BasinVerification, row, scores=scores)


def _pooled(
    version: str, key: tuple[Origin, str, Day, Day, str, int, str, PeriodUse], rows: Sequence[Sequence[Any]]
) -> PooledVerification:
    origin, weather, first, last, season, lead, forecaster, period_use = key
    reasons, *columns = zip(*rows, strict=True)
    by_score = zip(POOLED, columns, strict=True)
    scores = {name: quartiles([value for value in values if value is not None]) for name, values in by_score}
    missing = {
        name: _most_frequent([of_basin[name] for of_basin in reasons])
        for name, of_score in scores.items()
        if not of_score.n
    }
    period = Period(first, last)
    return PooledVerification(
        version_id=version,
        origin=origin,
        weather=weather,
        period=period,
        season=season,
        lead=lead,
        forecaster=forecaster,
        period_use=period_use,
        basins=len(rows),
        scores=scores,
        missing=missing,
    )


def _most_frequent(reasons: Sequence[JsonObject]) -> Absent:
    """Return the most frequent of stored reasons."""
    places = Counter(json.dumps(reason, sort_keys=True) for reason in reasons)
    return from_json(Absent, json.loads(places.most_common(1)[0][0]))
