"""Forecast skill of versions: by basin, period, forecaster, lead and season."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, Literal

from sqlalchemy import JSON, CheckConstraint, ForeignKey, Select, select, type_coerce
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.scores.comparisons import Quartiles, quartiles
from hydrology.verification.forecasts import CALIBRATED
from hydrology.verification.held_out_years import PeriodUse
from hydrology.verification.results import ALL_YEAR, Verification
from records.database.base import JsonObject, from_json
from records.database.stored import Columns, add_all, as_values, read, stored, table_of

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
_key = attrgetter(*_GROUP)


@stored(
    "verification",
    CheckConstraint("first_day <= last_day", name="order"),
    CheckConstraint("lead >= 1", name="lead"),
    CheckConstraint("n >= 0", name="n"),
    CheckConstraint("every_days >= 1", name="every_days"),
    key=("version_id", "basin_id", "first_day", "last_day", "forecaster", "lead", "season", "origin", "weather"),
)
class BasinVerification:
    """Verification of a forecaster in a basin.

    Attributes:
        version_id: the version that issued the forecasts, or that they are compared with.
        weather: after T0: `observed`, `climatology`, or a weather forecast's source and model
            (`run_request.name_of_weather`).
        first_day, last_day: the period that contains T0 and the forecast days.
        forecaster: one of `hydrology.verification.forecasts.FORECASTERS`, or of adjusted forecasts
            (`hydrology.verification.forecasts`).
        season: one of `hydrology.verification.results.SEASONS`, of the forecast day.
        every_days: days from one T0 to the next; None for forecasts issued in operation.
        error_model: the fingerprint of the forecasts' error model, the newest of several; None without one.
        period_use: how the training used the days that count: not at all, where it states its own.
    """

    version_id: Annotated[str, ForeignKey("versions.id")]
    basin_id: Annotated[str, ForeignKey("basins.id")]
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
    scores: Annotated[Verification, Columns()]
    verified_at: datetime


VERIFICATION = table_of(BasinVerification)


@dataclass(frozen=True, slots=True)
class PooledVerification:
    """Verification of a forecaster over basins.

    Attributes:
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
    names = ("version_id", "basin_id", "first_day", "last_day")
    for key in set(map(attrgetter(*names), rows)):
        own = dict(zip(names, key, strict=True), origin="reforecast")
        session.execute(VERIFICATION.delete().filter_by(**own))
    add_all(session, BasinVerification, map(as_values, rows))


def replace_issued(session: Session, version: str, basin: str, rows: Sequence[BasinVerification]) -> bool:
    """Store the verification of issued forecasts in place of earlier rows; False if it is equal."""
    column = VERIFICATION.c
    own = (column.version_id == version) & (column.basin_id == basin) & (column.origin == "issued")
    before = {_key(row): row for row in _read(session, select(VERIFICATION).where(own))}
    same = {_key(row): changed(row, verified_at=before[_key(row)].verified_at) for row in rows if _key(row) in before}
    if len(rows) == len(before) and same == before:
        return False
    session.execute(VERIFICATION.delete().where(own))
    add_all(session, BasinVerification, map(as_values, rows))
    return True


def of_basin(session: Session, version: str, basin: str, season: str = ALL_YEAR) -> list[BasinVerification]:
    query = select(VERIFICATION).filter_by(version_id=version, basin_id=basin, season=season)
    return _read(session, query.order_by(*(VERIFICATION.c[name] for name in _GROUP)))


def of_forecasters(
    session: Session, version: str, forecasters: Sequence[str], season: str = ALL_YEAR
) -> list[BasinVerification]:
    query = select(VERIFICATION).filter_by(version_id=version, season=season)
    query = query.where(VERIFICATION.c.forecaster.in_(forecasters))
    return _read(session, query.order_by(*(VERIFICATION.c[name] for name in _GROUP), VERIFICATION.c.basin_id))


def issued_skill(session: Session, version: str, min_pairs: int) -> list[float]:
    """Return the CRPS skill against persistence at 1 day ahead of a version's issued, calibrated forecasts.

    One value a basin with at least `min_pairs` verified forecasts, with the weather that was verified last.
    """
    row = VERIFICATION.c
    query = select(row.last_day, row.crpss_persistence).filter_by(
        version_id=version, origin="issued", forecaster=CALIBRATED, lead=1, season=ALL_YEAR
    )
    found = session.execute(query.where(row.n >= min_pairs, row.crpss_persistence.is_not(None))).all()
    newest = max((last for last, _ in found), default=None)
    return [skill for last, skill in found if last == newest]


def pooled(session: Session, version: str, season: str = ALL_YEAR) -> list[PooledVerification]:
    group = [VERIFICATION.c[name] for name in _GROUP]
    reasons = type_coerce(VERIFICATION.c.missing, JSON)  # read only for scores that no basin has
    query = select(*group, reasons, *(VERIFICATION.c[name] for name in POOLED))
    found = session.execute(query.filter_by(version_id=version, season=season).order_by(*group))
    return [
        _pooled(version, key, [row[len(_GROUP) :] for row in rows])
        for key, rows in groupby(found, lambda row: tuple(row[: len(_GROUP)]))
    ]


def _read(session: Session, query: Select[Any]) -> list[BasinVerification]:
    uncounted = {"independent_issues": absent(Reason.ISSUES_NOT_COUNTED)}
    return [
        row
        if row.scores.independent_issues is not None
        else changed(row, scores=changed(row.scores, missing={**row.scores.missing, **uncounted}))
        for row in read(session, BasinVerification, query)
    ]


def _pooled(version: str, key: tuple[Any, ...], rows: Sequence[Sequence[Any]]) -> PooledVerification:
    reasons, *columns = zip(*rows, strict=True)
    by_score = zip(POOLED, columns, strict=True)
    scores = {name: quartiles([value for value in values if value is not None]) for name, values in by_score}
    missing = {
        name: _most_frequent([of_basin[name] for of_basin in reasons])
        for name, of_score in scores.items()
        if not of_score.n
    }
    named = dict(zip(_GROUP, key, strict=True))
    period = Period(named.pop("first_day"), named.pop("last_day"))
    return PooledVerification(
        version_id=version, period=period, basins=len(rows), scores=scores, missing=missing, **named
    )


def _most_frequent(reasons: Sequence[JsonObject]) -> Absent:
    places = Counter(json.dumps(reason, sort_keys=True) for reason in reasons)
    return from_json(Absent, json.loads(places.most_common(1)[0][0]))
