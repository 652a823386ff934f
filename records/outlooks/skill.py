"""Skill of versions in basins, on days that they have not learnt from."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from sqlalchemy import JSON, Row, select, type_coerce
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Period, as_date
from hydrology.base.reasons import Reason
from hydrology.verification.held_out_years import HELD_OUT
from hydrology.verification.results import ALL_YEAR, MonthSkill
from hydrology.verification.skilful_days import LeadSkill, ReliableDays, SkilfulDays, reliable_days, skilful_days
from records.database.base import from_json
from records.database.stored import as_record, grouped
from records.runs.run_types import Run
from records.runs.run_weather import OBSERVED
from records.verification import scores
from records.verification.lead_scores import VERIFICATION, Origin
from records.verification.scores import HeldOutScore
from records.versions import versions

METRIC = "nse"


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
    def reliable(self) -> ReliableDays | Absent:
        """Until which day ahead forecasts of any month beat climatology and their 90 % range held."""
        return reliable_days(self.leads)

    @property
    def headline(self) -> SkilfulDays | ReliableDays | Absent:
        """The skill of the month; where that is not known, of any month."""
        return self.reliable if isinstance(self.skilful, Absent) else self.skilful

    @property
    def evidence(self) -> LeadSkill:
        """The verification of the headline's day; of the first, where it is none."""
        days = None if isinstance(self.headline, Absent) else self.headline.days
        return next((one for one in self.leads if one.lead == days), self.leads[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class BasinSkill:
    """Skill of a version in a basin; the Nash-Sutcliffe efficiency is that of its simulation."""

    nse: HeldOutScore | Absent
    nse_of: str | None
    forecasts: ForecastSkill | Absent


def simulation_skill(session: Session, used: Collection[str]) -> dict[str, dict[str, float]]:
    """Return the Nash-Sutcliffe efficiency of versions on held-out days, by basin; basins without one are left out."""
    of_version = dict[str, dict[str, float]]()
    for version in used:
        own_last = reversed(versions.get(session, version).evaluated_as)
        of_version[version] = reduce(or_, (scores.held_out_values(session, name, METRIC) for name in own_last))
    return of_version


def skill_of_many(session: Session, shown: Mapping[str, Run]) -> dict[str, BasinSkill]:
    """Return the skill of runs by their basins: of their versions, with their weather, in the months that they end."""
    used = {run.version_id for run in shown.values()}
    evaluated = {version: versions.get(session, version).evaluated_as for version in used}
    every = sorted({version for names in evaluated.values() for version in names})
    of_means = scores.held_out_scores(session, every, [METRIC], [*shown])
    rows = _rows(session, shown, every)
    found, not_evaluated = {}, absent(Reason.NOT_EVALUATED_HELD_OUT)
    for basin, run in shown.items():
        names = evaluated[run.version_id]
        scored = next((name for name in names if (name, basin, METRIC) in of_means), None)
        found[basin] = BasinSkill(
            nse=not_evaluated if scored is None else of_means[scored, basin, METRIC],
            nse_of=scored,
            forecasts=_forecast_skill(run, names, rows.get(basin, ())),
        )
    return found


def _month(run: Run) -> int:
    return as_date(run.last_day).month


def _rows(session: Session, shown: Mapping[str, Run], every: Sequence[str]) -> dict[str, list[Any]]:
    row, found = VERIFICATION.c, dict[str, list[Any]]()
    columns = (row.basin_id, row.version_id, row.origin, row.weather, row.first_day, row.last_day, row.lead)
    values = (row.crpss_climatology, row.crpss_climatology_low, row.coverage_90, row.independent_issues)
    for month, basins in sorted(grouped((_month(run), basin) for basin, run in shown.items()).items()):
        of_month = type_coerce(row.months, JSON)[month - 1].label("of_month")
        query = select(*columns, *values, of_month).where(
            row.forecaster == "calibrated",
            row.season == ALL_YEAR,
            row.period_use == HELD_OUT,
            row.version_id.in_(every),
            row.basin_id.in_(basins),
            row.crpss_climatology.is_not(None),
        )
        for found_row in session.execute(query.order_by(row.basin_id, row.lead)):
            found.setdefault(found_row.basin_id, []).append(found_row)
    return found


def _forecast_skill(run: Run, evaluated: Sequence[str], rows: Sequence[Row[Any]]) -> ForecastSkill | Absent:
    own = None if run.weather is None else run.weather.name
    orders = (("issued", own), ("reforecast", own), ("reforecast", OBSERVED))
    by_group: dict[tuple[Any, ...], list[Row[Any]]] = {}
    for row in rows:
        group = (row.version_id, row.origin, row.weather, row.first_day, row.last_day)
        counts = row.version_id == run.version_id or row.origin == "reforecast"  # of its twin, reforecasts alone
        if (row.origin, row.weather) in orders and row.version_id in evaluated and counts:
            by_group.setdefault(group, []).append(row)
    if not by_group:
        return absent(Reason.NOT_VERIFIED_HELD_OUT)
    version, origin, weather, first, last = chosen = min(
        by_group, key=lambda group: (orders.index(group[1:3]), evaluated.index(group[0]), -group[4].astype(int))
    )
    return ForecastSkill(
        version=version,
        origin=origin,
        weather=weather,
        period=Period(first, last),
        month=_month(run),
        leads=tuple(_lead(row) for row in by_group[chosen]),
    )


def _lead(row: Row[Any]) -> LeadSkill:
    month = None if row.of_month is None else from_json(MonthSkill, row.of_month)
    return as_record(LeadSkill, row, month=month)
