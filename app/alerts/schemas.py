"""Answers about alerts: those of rivers, and of the levels of a basin."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any

from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.run_levels import BOUND, YEARS, ReturnPeriodBound, Stage, return_period, stage_of
from app.basins.schemas import BasinKind, kind_of
from app.http.base_schema import EXPLAINED, Missing, Model, Number, next_page
from hydrology.alerts import ENDS_AFTER, IMPACT, Severity, Trend, ladder
from hydrology.base.absent import NOT_STORED, Absent, text
from hydrology.base.calendar import Day
from hydrology.base.doc import Why
from hydrology.extremes.levels import Kind
from hydrology.extremes.return_periods import ReturnPeriod
from hydrology.uncertainty.exceedance import Direction
from jobspec.levels import CategoryName
from records.alerts import alerts
from records.alerts.alert_changes import NO_ALERT, NO_CATEGORY, NO_IMPACT, NO_TREND
from records.basins import ratings
from records.basins.ratings import StoredRating
from records.levels import basin_levels
from records.levels.basin_levels import SetLevel
from records.outlooks.flow_outlooks import read_outlooks
from records.runs.run_summary import CalibrationKind
from records.runs.run_types import RunBasinKey

_UNDECIDED = Why("No forecast has decided its alerts yet.")


class AlertStep(Model):
    """A severity of a level: its thresholds and current state."""

    severity: Severity
    begins_at: float = Field(description="The severity begins at this chance.")
    ends_below: float = Field(description="The severity ends below this chance.")
    begins_after_runs: int = Field(description="Number of consecutive runs at or above `begins_at`.")
    ends_after_runs: int = Field(description="Number of consecutive runs below `ends_below`.")
    on: bool = Field(description="Whether it, or a higher one, is reached.")
    runs: int = Field(description="Number of consecutive runs, the latest included, that support the opposite state.")


class Alert(Model):
    """The current alert of one level."""

    basin: str
    level: str = Field(description="The level's name in `/v1/basins/{basin}/thresholds`.")
    kind: Annotated[Kind | None, Why("The level is user-defined.")] = Field(
        description="Kind of level; null for a user-defined level."
    )
    return_period_years: Annotated[float | None, Why("A user-defined level has none.")] = Field(
        description="Mean number of years between exceedances."
    )
    direction: Direction = Field(description="Whether it is passed upwards (`rising`) or downwards.")
    discharge: float = Field(description="m³/s.")
    stage: Stage = Field(description="Its stage, by the basin's rating of the day.")
    category: Annotated[CategoryName | None, NO_CATEGORY] = Field(
        description="The official flood category; null for other levels."
    )
    impact: Annotated[str | None, NO_IMPACT] = Field(description=IMPACT)
    chance: float = Field(description="The calibrated chance of passing it on any day of the window, 0 to 1.")
    calibration: CalibrationKind = Field(
        description="What the chance rests on, as `calibration.kind` of the forecast: `provisional` where no forecasts "
        "with the weather model have been compared with observed flow, `backfilled` where most of those were computed "
        "later with its past issues."
    )
    trend: Annotated[Trend | None, NO_TREND] = Field(description="Which way the chance has moved since the run before.")
    severity: Annotated[Severity | None, NO_ALERT] = Field(description="Null: there is no alert.")
    since: Annotated[datetime | None, NO_ALERT] = Field(
        description="When the severity was reached, by the service's clock."
    )
    why: str = Field(description="The numbers and the rule behind the decision.")
    run: str = Field(description="The run that decided it.")
    peak_return_period_years: Number | None = Field(description=f"Of that run's peak. {YEARS}")
    peak_return_period_bound: ReturnPeriodBound = Field(description=BOUND)
    steps: list[AlertStep] = Field(description="The rules of the level, the least severe first.")
    missing: Missing = EXPLAINED


class StandingLevel(Model):
    """A level with an alert, in brief."""

    level: str
    severity: Severity
    chance: float
    discharge_m3s: float


STANDING = (
    "The levels of the river with an alert, the one that stands for it first: of the most severe, the furthest out "
    "that is likely to be passed (a chance from 0.5), otherwise the furthest out that is possible (from 0.1)."
)


class RiverAlert(Alert):
    """The current alert of a river, a basin and a direction: that of the level that stands for it."""

    levels: list[StandingLevel] = Field(description=STANDING)


class Alerts(Model):
    """Alerts of all rivers."""

    alerts: list[RiverAlert] = Field(description="In the order of basins and directions.")
    next: str | None = next_page("/v1/alerts?limit=100&after=USGS-13235000%2Frising")


class BasinAlerts(Model):
    """The alerts of a basin by its newest forecast."""

    basin: str
    basin_kind: BasinKind
    run: Annotated[str | None, _UNDECIDED] = Field(description="The latest run that was evaluated.")
    version: Annotated[str | None, _UNDECIDED] = Field(description="The model version that issued it.")
    t0: Annotated[date | None, _UNDECIDED]
    issued_at: Annotated[datetime | None, _UNDECIDED]
    window_days: Annotated[int | None, _UNDECIDED] = Field(
        description="Number of days after T0 that the chances cover."
    )
    decided_at: Annotated[datetime | None, _UNDECIDED] = Field(description="By the service's clock.")
    reason: Annotated[str | None, Why("The run has decided.")] = Field(
        description="Why the run could not decide: the levels stay as an earlier one left them."
    )
    levels: list[Alert] = Field(description="In the order of their names.")
    missing: Missing = EXPLAINED


def _return_periods(session: Session, found: Iterable[alerts.Alert]) -> dict[RunBasinKey, ReturnPeriod | Absent]:
    """Return the return periods of the peaks of the runs that decided alerts."""
    stored = read_outlooks(session, {(alert.run_id, alert.basin_id) for alert in found})
    peaks = {key: outlook.published.peak for key, outlook in stored.items()}
    return {key: peak if isinstance(peak, Absent) else peak.return_period for key, peak in peaks.items()}


def _of_level(
    alert: alerts.Alert,
    rating: StoredRating | None,
    levels: Sequence[SetLevel],
    periods: Mapping[RunBasinKey, ReturnPeriod | Absent],
) -> dict[str, Any]:
    level = next((level for level in levels if level.name == alert.level), None)
    steps = [
        AlertStep.from_records(step, begins_after_runs=step.begins_after, ends_after_runs=ENDS_AFTER, on=on, runs=runs)
        for step, (on, runs) in zip(ladder(alert.return_period_years), alert.switches, strict=True)
    ]
    return {
        "steps": steps,
        "category": level and level.category,
        "impact": level and level.impact,
        "stage": stage_of(rating, alert.discharge),
        **return_period(periods.get((alert.run_id, alert.basin_id), NOT_STORED), "peak_"),
    }


def answers_of(session: Session, found: Sequence[alerts.RiverAlert], on: Day) -> list[RiverAlert]:
    """Return the alerts of many rivers in order; `on` chooses the ratings."""
    names = [*{alert.basin_id for alert in found}]
    rated, levels = ratings.newest_many(session, names, on), basin_levels.of_basins(session, names)
    periods = _return_periods(session, found)
    return [
        RiverAlert.from_records(
            alert, **_of_level(alert, rated.get(alert.basin_id), levels.get(alert.basin_id, ()), periods)
        )
        for alert in found
    ]


def of_basin(session: Session, basin: str, on: Day) -> BasinAlerts:
    """Return a basin's alerts, level by level; `on` chooses the rating."""
    standing, rating = alerts.standing(session, basin), ratings.newest(session, basin, on)
    levels, found = basin_levels.of_basin(session, basin), alerts.of_basin(session, basin)
    periods = _return_periods(session, found)
    undecided = dict.fromkeys(("run", "version", "t0", "issued_at", "window_days", "decided_at"))
    return BasinAlerts.from_records(
        standing,
        basin=basin,
        basin_kind=kind_of(session, basin),
        **(undecided if standing is None else {}),
        reason=None if standing is None else text(standing.reason),
        levels=[Alert.from_records(alert, **_of_level(alert, rating, levels, periods)) for alert in found],
        why={"reason": _UNDECIDED.text} if standing is None else None,
    )
