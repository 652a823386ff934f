"""Skill of versions in basins, on days that they have not learnt from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from sqlalchemy import JSON, Row, select, type_coerce
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.verification.results import ALL_YEAR, MonthSkill
from hydrology.verification.skilful_days import SkilfulDays, skilful_days
from records.database.json_columns import from_json
from records.runs.run_request import OBSERVED
from records.verification import scores
from records.verification.lead_scores import Origin
from records.verification.tables import VerificationRow
from records.versions import versions

METRIC = "nse"
MIN_COVERAGE = 0.8
"""Share of days that the 90 % range must hold for a lead to count as reliable."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadSkill:
    """Skill of calibrated forecasts at a lead; `month` is that on the days of the month asked for."""

    lead: int
    crpss: float
    crpss_low: float | None
    coverage_90: float | None
    month: MonthSkill | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastSkill:
    """Skill of calibrated forecasts by lead, and what it rests on.

    Attributes:
        version: the version that was verified: the same, or its twin.
        month: the calendar month that `skilful` is of.
    """

    version: str
    origin: Origin
    weather: str
    period: Period
    month: int
    leads: tuple[LeadSkill, ...]

    @property
    def skilful(self) -> SkilfulDays | Absent:
        """Until which day ahead forecasts of the month beat climatology."""
        return skilful_days({one.lead: one.month for one in self.leads if one.month is not None})

    @property
    def reliable_to(self) -> int:
        """The last lead, from the first on, at which forecasts beat climatology and the 90 % range held; 0: none."""
        reliable = 0
        for one in self.leads:
            lowest = one.crpss if one.crpss_low is None else one.crpss_low
            if lowest <= 0 or (one.coverage_90 or 0) < MIN_COVERAGE:
                break
            reliable = one.lead
        return reliable


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinSkill:
    """Skill of a version in a basin; the Nash-Sutcliffe efficiency is that of its simulation."""

    nse: float | Absent
    nse_of: str | None
    forecasts: ForecastSkill | Absent


@dataclass(frozen=True, slots=True)
class SkillKey:
    """Whose skill is asked for: of a version in a basin, with the weather of a run, in a calendar month."""

    version: str
    basin: str
    weather: str | None
    month: int


def skill_of_many(session: Session, keys: Sequence[SkillKey]) -> dict[str, BasinSkill]:
    """Return the skill in basins, by basin."""
    evaluated = {version: versions.get(session, version).evaluated_as for version in {key.version for key in keys}}
    every = sorted({version for names in evaluated.values() for version in names})
    of_means = scores.mean_scores(session, every, [METRIC])
    rows, is_held_out = _rows(session, keys, every), cache(partial(_is_held_out, session))
    found, not_evaluated = {}, absent(Reason.NOT_EVALUATED_HELD_OUT)
    for key in keys:
        names = evaluated[key.version]
        scored = next((name for name in names if (name, key.basin, METRIC) in of_means), None)
        found[key.basin] = BasinSkill(
            nse=not_evaluated if scored is None else of_means[scored, key.basin, METRIC],
            nse_of=scored,
            forecasts=_forecast_skill(key, names, rows.get(key.basin, ()), is_held_out),
        )
    return found


def _rows(session: Session, keys: Sequence[SkillKey], every: Sequence[str]) -> dict[str, list[Any]]:
    """Return the verification of calibrated forecasts by basin, with one statement for each month."""
    row, found = VerificationRow, dict[str, list[Any]]()
    columns = (row.basin_id, row.version_id, row.origin, row.weather, row.first_day, row.last_day, row.lead)
    values = (row.crpss_climatology, row.crpss_climatology_low, row.coverage_90)
    for month in sorted({key.month for key in keys}):
        of_month = type_coerce(row.months, JSON)[month - 1].label("of_month")
        query = select(*columns, *values, of_month).where(
            row.forecaster == "calibrated",
            row.season == ALL_YEAR,
            row.version_id.in_(every),
            row.basin_id.in_([key.basin for key in keys if key.month == month]),
            row.crpss_climatology.is_not(None),
        )
        for found_row in session.execute(query.order_by(row.basin_id, row.lead)):
            found.setdefault(found_row.basin_id, []).append(found_row)
    return found


def _forecast_skill(
    key: SkillKey, evaluated: Sequence[str], rows: Sequence[Row[Any]], is_held_out: Callable[[str, Day, Day], bool]
) -> ForecastSkill | Absent:
    """Return the skill of forecasts issued with the weather, else of reforecasts with it or with observed weather."""
    orders = (("issued", key.weather), ("reforecast", key.weather), ("reforecast", OBSERVED))
    by_group: dict[tuple[Any, ...], list[Row[Any]]] = {}
    for row in rows:
        group = (row.version_id, row.origin, row.weather, row.first_day, row.last_day)
        if (row.origin, row.weather) in orders and row.version_id in evaluated and _is_own(key, row):
            by_group.setdefault(group, []).append(row)
    held_out = [group for group in by_group if is_held_out(group[0], group[3], group[4])]
    if not held_out:
        return absent(Reason.NOT_VERIFIED_HELD_OUT)
    version, origin, weather, first, last = chosen = min(
        held_out, key=lambda group: (orders.index(group[1:3]), evaluated.index(group[0]), -group[4].astype(int))
    )
    return ForecastSkill(
        version=version,
        origin=origin,
        weather=weather,
        period=Period(first, last),
        month=key.month,
        leads=tuple(_lead(row) for row in by_group[chosen]),
    )


def _is_own(key: SkillKey, row: Row[Any]) -> bool:
    """Return whether a row counts for a version: all of its own, and the reforecasts of its twin."""
    return bool(row.version_id == key.version or row.origin == "reforecast")


def _is_held_out(session: Session, version: str, first: Day, last: Day) -> bool:
    return versions.get(session, version).use_of(Period(first, last)) == "held out"


def _lead(row: Row[Any]) -> LeadSkill:
    return LeadSkill(
        lead=row.lead,
        crpss=row.crpss_climatology,
        crpss_low=row.crpss_climatology_low,
        coverage_90=row.coverage_90,
        month=None if row.of_month is None else from_json(MonthSkill, row.of_month),
    )
