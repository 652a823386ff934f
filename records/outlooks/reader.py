"""Reads the outlooks of basins at an instant: what their runs store, joined with what depends on the instant."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from math import isfinite
from typing import Annotated, Literal

import numpy as np
from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.alerts import Trend, ladder, trend
from hydrology.base.absent import NOT_STORED, Absent, absent
from hydrology.base.calendar import STALE_AFTER_DAYS, Day, Period, age_days, as_date, day, stale
from hydrology.base.doc import Doc, Why
from hydrology.base.errors import NotFound
from hydrology.base.products import DISCHARGE
from hydrology.base.reasons import Reason
from hydrology.base.series import DailySeries
from hydrology.base.units import Area, converted
from hydrology.extremes.level_checks import LIKELY, POSSIBLE, LevelAdvice, LevelText, advice_of
from hydrology.extremes.return_periods import ReturnPeriod
from hydrology.outlook import (
    FlowNow,
    FlowOutlook,
    LevelOutlook,
    Peak,
    flow_now,
    highest,
    highest_below,
    likeliest,
    lowest_above,
)
from hydrology.snow.against_normal import MIN_MM
from records.alerts import held_alerts
from records.alerts.alerts import ALERTS, Alert
from records.basins import basins as basin_records
from records.basins import ownership, ratings
from records.basins.ratings import StoredRating
from records.database.stored import read
from records.forecasts import latest as forecasts
from records.forecasts.latest import Latest, Superseded
from records.levels import basin_levels
from records.outlooks import outlooks as run_outlooks
from records.outlooks.flow_outlooks import RunOutlook, Season, newest_seasons, peak_m3s
from records.outlooks.skill import BasinSkill, skill_of_many
from records.runs import runs
from records.runs.run_summary import RunSnow
from records.runs.run_types import Run
from records.runs.tables import Adjustment
from records.series import series
from records.series.year_rows import DamagedSeries

OBSERVED_DAYS = 366
"""Number of days before the clock's that the last observed flow is looked for."""
RECENT_DAYS = 14
"""Number of days before the clock's whose observed flow is shown beside the days ahead."""
State = Literal["fresh", "stale", "withheld", "missing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Freshness:
    """How current the forecast is."""

    state: Annotated[
        State,
        Doc(
            f"`stale`: its weather ends more than {STALE_AFTER_DAYS} days before the clock. `withheld`: the newest run "
            "was not issued, and there is none before. `missing`: there is no run."
        ),
    ]
    reason: Annotated[Absent | None, Doc("Why it is not fresh."), Why("It is fresh.")] = None
    since: Annotated[
        datetime | None, Doc("From when on it is so, by the service's clock."), Why("There is no run.")
    ] = None
    newer: Annotated[
        Superseded | None,
        Doc("A newer run that was withheld: the forecast is the one before."),
        Why("No newer run was withheld."),
    ] = None
    awaited: Annotated[
        str | None,
        Doc("The promoted version that has issued no forecast yet."),
        Why("The current version has issued forecasts, or there is none."),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StandingAlert:
    """The most severe alert of a basin, as it stands.

    Attributes:
        is_ending: whether the chance no longer holds it: it ends with the next runs of that kind.
    """

    alert: Alert
    run: Run
    is_ending: bool
    waits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The outlook of a basin at an instant.

    Attributes:
        now: the last observed flow, m3/s.
        recent: the observed flows of the last `RECENT_DAYS` days, m3/s, by day; those not known are left out.
        texts: what is stated of levels, by their names.
    """

    basin: str
    owner: str | None
    at: datetime
    forecast: Latest | None
    freshness: Freshness
    now: FlowNow | Absent
    recent: Mapping[date, float]
    rating: StoredRating | None
    run_outlook: RunOutlook | Absent
    adjustment: Adjustment | None
    alert: StandingAlert | None
    texts: Mapping[str, LevelText]
    season: Season | Absent
    skill: BasinSkill | Absent

    @property
    def published(self) -> FlowOutlook | Absent:
        return self.run_outlook if isinstance(self.run_outlook, Absent) else self.run_outlook.published

    @property
    def area(self) -> Area | None:
        return None if self.forecast is None else self.forecast.basin.area

    @property
    def peak(self) -> Peak | Absent:
        """The highest of the days ahead."""
        return self.published if isinstance(self.published, Absent) else self.published.peak

    @property
    def peak_m3s(self) -> float | None:
        """Its height, m3/s; None also where the run has no area."""
        return peak_m3s(self.peak, self.area)

    @property
    def peak_day(self) -> date | None:
        return None if isinstance(self.peak, Absent) else self.day_of(self.peak.lead)

    @property
    def peak_return_period(self) -> ReturnPeriod | Absent:
        """That of its height."""
        return self.peak if isinstance(self.peak, Absent) else self.peak.return_period

    @property
    def percent_of_normal(self) -> float | Absent:
        return self.published if isinstance(self.published, Absent) else self.published.percent_of_normal

    @property
    def snow(self) -> RunSnow | Absent:
        if self.forecast is None:
            return self.freshness.reason or NOT_STORED
        snow = self.forecast.basin.summary.snow
        return self.forecast.basin.why(snow) if isinstance(snow, Absent) else snow

    @property
    def snow_percent(self) -> float | Absent:
        snow = self.snow
        if isinstance(snow, Absent):
            return snow
        if isinstance(snow.normal_mm, Absent):
            return snow.normal_mm
        percent = snow.against_normal.percent
        return absent(Reason.NORMAL_TOO_SMALL, mm=MIN_MM) if percent is None else percent

    def day_of(self, lead: int) -> date:
        assert self.forecast is not None
        return as_date(self.forecast.run.t0) + timedelta(days=lead)

    @property
    def levels(self) -> Sequence[LevelOutlook] | Absent:
        return self.published if isinstance(self.published, Absent) else self.published.levels

    @property
    def likely(self) -> LevelOutlook | None:
        """The highest level that is likely passed."""
        return highest(self._known_levels, LIKELY)

    @property
    def possible(self) -> LevelOutlook | None:
        """The highest level that is possibly passed."""
        return highest(self._known_levels, POSSIBLE)

    @property
    def likeliest(self) -> LevelOutlook | None:
        """The level that is likeliest passed."""
        return likeliest(self._known_levels)

    @property
    def advice(self) -> Sequence[LevelAdvice]:
        """What is stated of the likely, the possible and the alert's level; nothing without calibrated chances."""
        alerted = None if self.alert is None else self.alert.alert.level
        return advice_of(self._known_levels if self.is_calibrated else (), self.texts, alerted)

    @property
    def is_calibrated(self) -> bool:
        return not isinstance(self.run_outlook, Absent) and self.run_outlook.basis == "calibrated"

    @property
    def trend(self) -> Trend | None:
        """The trend of the likeliest level's chance since the issue before; None where that is not known."""
        stored, level = self.run_outlook, self.likeliest
        if isinstance(stored, Absent) or isinstance(stored.before, Absent) or level is None:
            return None
        before = stored.before.chances.get(level.level)
        return None if before is None else trend(level.chance, before)

    @property
    def level_now(self) -> LevelOutlook | None:
        """The highest level that the last observed flow is above."""
        return None if isinstance(self.now, Absent) else highest_below(self._known_levels, self.now.flow)

    @property
    def next_level(self) -> LevelOutlook | None:
        """The lowest flood level above the last observed flow; without one, the lowest."""
        return lowest_above(self._known_levels, 0.0 if isinstance(self.now, Absent) else self.now.flow)

    @property
    def _known_levels(self) -> Sequence[LevelOutlook]:
        return () if isinstance(self.levels, Absent) else self.levels


def outlook(session: Session, basin: str, at: datetime, run: str | None = None) -> Outlook:
    basin_records.require(session, basin)
    if run is None:
        return outlooks(session, [basin], at)[basin]
    chosen = forecasts.result_of(session, run, basin)
    issued_at = chosen.run.issued_at
    found = outlooks_by(session, {basin: chosen}, at)[basin]
    return replace(
        found,
        rating=ratings.newest(session, basin, day(issued_at.date()), issued_at),
        run_outlook=run_outlooks.as_issued(session, chosen.run, chosen.basin, found.run_outlook),
    )


def outlooks(session: Session, basins: Sequence[str], at: datetime) -> dict[str, Outlook]:
    return outlooks_by(session, forecasts.latest_many(session, basins, at), at)


def outlooks_by(session: Session, found: Mapping[str, Latest | NotFound], at: datetime) -> dict[str, Outlook]:
    """Return the outlooks of basins by given runs, or why they have none. The number of statements does not grow with
    that of basins."""
    names, today = list(found), day(at.date())
    known = {name: one for name, one in found.items() if isinstance(one, Latest)}
    keys = {name: (one.run.id, name) for name, one in known.items()}
    adjusted = forecasts.published_adjustments(session, list(keys.values()), by=at)
    of_runs = run_outlooks.of_runs(session, [(one.run, one.basin) for one in known.values()], adjusted)
    fresh = _freshness(session, found, at)
    now, rated = _flows_now(session, known, names, today), ratings.newest_many(session, names, today)
    standing, texts = _standing_alerts(session, names), basin_levels.texts(session, names)
    seasons = newest_seasons(session, names, at)
    owners = ownership.owners(session, names)
    skill = skill_of_many(session, {name: one.run for name, one in known.items()})
    no_forecast = {name: fresh[name].reason or NOT_STORED for name in names if name not in known}
    return {
        name: Outlook(
            basin=name,
            owner=owners.get(name),
            at=at,
            forecast=known.get(name),
            freshness=fresh[name],
            now=now[name][0],
            recent=now[name][1],
            rating=rated.get(name),
            run_outlook=no_forecast[name] if name in no_forecast else of_runs[keys[name]],
            adjustment=None if name in no_forecast else adjusted.get(keys[name]),
            alert=standing.get(name),
            texts=texts.get(name, {}),
            season=seasons.get(name) or absent(Reason.NO_SEASONAL_RUN),
            skill=no_forecast[name] if name in no_forecast else skill[name],
        )
        for name in names
    }


def _freshness(session: Session, found: Mapping[str, Latest | NotFound], at: datetime) -> dict[str, Freshness]:
    lacking = [name for name, one in found.items() if not isinstance(one, Latest)]
    tried = forecasts.newest_tried(session, lacking, at) if lacking else {}
    fresh = {}
    for name, one in found.items():
        if isinstance(one, Latest):
            fresh[name] = _freshness_of(one, at)
        else:
            since = tried[name][0].issued_at if name in tried else None
            reason = absent(Reason.FAILED, message=str(one))
            fresh[name] = Freshness(state="withheld" if name in tried else "missing", reason=reason, since=since)
    return fresh


def _freshness_of(forecast: Latest, at: datetime) -> Freshness:
    run, basin = forecast.run, forecast.basin
    newer, awaited = forecast.superseded_by, forecast.awaited
    if basin.status != "issued":
        return Freshness(state="withheld", reason=basin.why_missing, since=run.issued_at, newer=newer, awaited=awaited)
    if not stale(age_days(run.weather_until, at)):
        return Freshness(state="fresh", since=run.available_at, newer=newer, awaited=awaited)
    reason = absent(Reason.FORECAST_STALE, t0=str(run.t0), days=age_days(run.t0, at))
    first_stale = as_date(run.weather_until) + timedelta(days=STALE_AFTER_DAYS + 1)
    return Freshness(
        state="stale", reason=reason, since=datetime.combine(first_stale, time(), UTC), newer=newer, awaited=awaited
    )


_Observed = tuple[FlowNow | Absent, Mapping[date, float]]


def _flows_now(session: Session, known: Mapping[str, Latest], names: Sequence[str], today: Day) -> dict[str, _Observed]:
    one_day = np.timedelta64(1, "D")
    period = Period(today - OBSERVED_DAYS * one_day, today - one_day)
    records = series.read_variable(session, names, DISCHARGE, period=period)
    return {name: _flow_now(record, known.get(name), period) for name, record in records}


def _flow_now(record: DailySeries | DamagedSeries | None, forecast: Latest | None, period: Period) -> _Observed:
    if isinstance(record, DamagedSeries):
        return absent(Reason.FAILED, message=str(record)), {}
    if record is None:
        return absent(Reason.NO_FLOW_OBSERVED, days=OBSERVED_DAYS), {}
    record, area = record.over(period), None if forecast is None else forecast.basin.area
    if record.unit == "mm/day" and area is None:
        return absent(Reason.RUN_WITHOUT_AREA), {}
    flow = converted(record.values, unit=record.unit, into="m3/s", area=area)
    days, last = record.days[-RECENT_DAYS:].tolist(), flow[-RECENT_DAYS:].tolist()
    recent = {day: value for day, value in zip(days, last, strict=True) if isfinite(value)}
    return flow_now(record.days, flow) or absent(Reason.NO_FLOW_OBSERVED, days=OBSERVED_DAYS), recent


def _standing_alerts(session: Session, names: Sequence[str]) -> dict[str, StandingAlert]:
    gravest: dict[str, Alert] = {}
    standing = select(ALERTS).where(ALERTS.c.basin_id.in_(names), ALERTS.c.severity.is_not(None))
    for alert in sorted(read(session, Alert, standing), key=lambda alert: alert.gravity):
        gravest[alert.basin_id] = alert
    waiting = held_alerts.waiting(session, names)
    decided = runs.get_many(session, {alert.run_id for alert in gravest.values()})
    return {
        name: StandingAlert(alert=alert, run=decided[alert.run_id], is_ending=_is_ending(alert), waits=name in waiting)
        for name, alert in gravest.items()
    }


def _is_ending(alert: Alert) -> bool:
    """Return whether runs count against the severity that stands."""
    severities = [step.severity for step in ladder(alert.return_period_years)]
    assert alert.severity is not None
    _, runs_against = alert.switches[severities.index(alert.severity)]
    return bool(runs_against)
