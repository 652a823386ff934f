"""Builds the answers with outlooks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TypeVar

from sqlalchemy.orm import Session

from app.adjustments.answers import adjustment_answer
from app.basins.ratings import stage_of
from app.basins.schemas import named_kind
from app.forecasts.discharge import level_name
from app.forecasts.schemas import Superseded
from app.http.base_schema import Absences, Model, Period
from app.http.json_numbers import rounded
from app.outlooks.schemas import (
    AlertNow,
    BasinOutlook,
    ForecastSkill,
    OutlookChange,
    OutlookDays,
    OutlookFreshness,
    OutlookNow,
    OutlookPeak,
    SeasonNow,
    SkillNow,
    SnowNow,
    Threat,
    ThreatLevel,
)
from hydrology.base import calendar
from hydrology.base.absent import Absent, absent, text
from hydrology.base.calendar import age_days, as_date, stale
from hydrology.base.reasons import Reason
from hydrology.base.units import Area, Units, converted
from hydrology.climatology.volumes import EXCEEDED_PERCENT
from hydrology.extremes.level_checks import level_title
from hydrology.outlook import LEVELS, FlowNow, LevelOutlook, Peak, Values
from records.outlooks import skill as skills
from records.outlooks.reader import Outlook, StandingAlert
from records.runs.run_summary import NOT_STORED

Part = TypeVar("Part", bound=Model)
NO_AREA = absent(Reason.RUN_WITHOUT_AREA)


@dataclass(frozen=True, slots=True)
class _Into:
    """Converts discharge to the unit of an answer; the area is None where the run has none."""

    units: Units
    area: Area | None

    def holds(self, unit: Units) -> bool:
        return self.area is not None or (self.units == "mm/day") == (unit == "mm/day")

    def value(self, flow: float, unit: Units = "mm/day") -> float:
        return rounded(float(converted(flow, unit=unit, into=self.units, area=self.area)))

    def column(self, flows: Values) -> list[float | None]:
        return [None if flow is None else self.value(flow) for flow in flows]


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer that is built: the outlook, its unit, and why parts of it are null."""

    outlook: Outlook
    into: _Into
    missing: Absences

    def noted(self, path: str, part: Part, reasons: Mapping[str, str]) -> Part:
        """Return a part, with the reasons of its null fields noted under its path."""
        self.missing.texts |= {
            f"{path}.{name}": reason for name, reason in reasons.items() if getattr(part, name) is None
        }
        return part

    def level(self, level: LevelOutlook) -> ThreatLevel:
        return ThreatLevel(
            level=level.level,
            title=level_title(level.level),
            direction=level.direction,
            return_period_years=level.return_period_years,
            discharge=self.into.value(level.discharge, "m3/s"),
            stage=stage_of(self.outlook.rating, level.discharge),
            chance=rounded(level.chance),
            impact=self.outlook.impacts.get(level.level),
        )


def answer(session: Session, outlook: Outlook, units: Units) -> BasinOutlook:
    """Return an outlook, its discharges in a unit."""
    forecast, stored, adjustment = outlook.forecast, outlook.run_outlook, outlook.adjustment
    building = _Answer(outlook, _Into(units, outlook.area), Absences())
    present, run = building.missing.present, None if forecast is None else forecast.run
    no_run = outlook.freshness.reason or NOT_STORED
    return BasinOutlook(
        basin=outlook.basin,
        basin_kind=named_kind(outlook.basin, official=outlook.is_official),
        at=outlook.at,
        run=present("run", no_run if run is None else run.id),
        version=present("version", no_run if run is None else run.version_id),
        t0=present("t0", no_run if run is None else as_date(run.t0)),
        issued_at=present("issued_at", no_run if run is None else run.issued_at),
        units={"discharge": units, "snow": "mm"},
        flow=present("flow", stored if isinstance(stored, Absent) else stored.basis),
        adjustment=present(
            "adjustment",
            absent(Reason.NOT_ADJUSTED) if adjustment is None else adjustment_answer(session, adjustment),
        ),
        freshness=_freshness(building),
        now=present("now", _now(building)),
        days=present("days", _days(building)),
        peak=present("peak", _peak(building)),
        threat=_threat(building),
        change=present("change", _change(building)),
        snow=present("snow", _snow(building)),
        season=present("season", _season(building)),
        skill=present("skill", _skill(building)),
        missing=building.missing.texts,
    )


def _freshness(building: _Answer) -> OutlookFreshness:
    fresh = building.outlook.freshness
    newer = fresh.newer
    shown = OutlookFreshness(
        state=fresh.state,
        reason=text(fresh.reason),
        since=fresh.since,
        newer=None if newer is None else Superseded(run=newer.run_id, status=newer.status, reason=str(newer.reason)),
        awaited_version=fresh.awaited,
    )
    return building.noted(
        "freshness",
        shown,
        {
            "reason": "It is fresh.",
            "since": "There is no run.",
            "newer": "No newer run was withheld.",
            "awaited_version": "The current version has issued forecasts, or there is none.",
        },
    )


def _now(building: _Answer) -> OutlookNow | Absent:
    outlook, into, now = building.outlook, building.into, building.outlook.now
    if isinstance(now, Absent):
        return now
    if not into.holds("m3/s"):
        return NO_AREA
    level = outlook.level_now
    shown = OutlookNow(
        day=as_date(now.day),
        age_days=age_days(now.day, outlook.at),
        discharge=into.value(now.flow, "m3/s"),
        stage=stage_of(outlook.rating, now.flow),
        change=building.missing.present("now.change", _changed(now, into)),
        trend=building.missing.present("now.trend", now.trend),
        level=None if level is None else level.level,
    )
    return building.noted("now", shown, {"level": "It is above no flood level that is known."})


def _changed(now: FlowNow, into: _Into) -> float | Absent:
    return now.change if isinstance(now.change, Absent) else into.value(now.change, "m3/s")


def _days(building: _Answer) -> OutlookDays | Absent:
    stored, into = building.outlook.run_outlook, building.into
    if isinstance(stored, Absent):
        return stored
    if not into.holds("mm/day"):
        return NO_AREA
    days = stored.published.days
    issued = None if stored.adjusted is None else _quantiles(stored.issued.days.quantiles, into)
    percent = stored.published.percent_of_normal
    shown = OutlookDays(
        time=[building.outlook.day_of(lead) for lead in days.leads],
        lead_days=list(days.leads),
        mean=into.column(days.mean),
        quantiles=_quantiles(days.quantiles, into),
        issued=issued,
        percent_of_normal=building.missing.present(
            "days.percent_of_normal", percent if isinstance(percent, Absent) else rounded(percent)
        ),
    )
    return building.noted("days", shown, {"issued": str(absent(Reason.NOT_ADJUSTED))})


def _quantiles(rows: Sequence[Values], into: _Into) -> dict[str, list[float | None]]:
    return {level_name(level): into.column(row) for level, row in zip(LEVELS, rows, strict=True)}


def _peak(building: _Answer) -> OutlookPeak | Absent:
    outlook = building.outlook
    t0 = date.min if outlook.forecast is None else as_date(outlook.forecast.run.t0)
    return _shown_peak(outlook.peak, t0, building.into)


def _shown_peak(peak: Peak | Absent, t0: date, into: _Into) -> OutlookPeak | Absent:
    if isinstance(peak, Absent):
        return peak
    if not into.holds("mm/day"):
        return NO_AREA
    first, median, last = (t0 + timedelta(days=lead) for lead in (peak.first, peak.lead, peak.last))
    low, height, high = map(into.value, (peak.low, peak.height, peak.high))
    return OutlookPeak(discharge=height, p05=low, p95=high, day=median, day_p05=first, day_p95=last)


def _threat(building: _Answer) -> Threat:
    outlook, present = building.outlook, building.missing.present
    stored, levels = outlook.run_outlook, outlook.levels
    if not isinstance(levels, Absent) and not building.into.holds("m3/s"):
        levels = NO_AREA
    shown = () if isinstance(levels, Absent) else [building.level(level) for level in levels]
    by_name = {level.level: level for level in shown}
    likely, possible = (None if one is None else by_name.get(one.level) for one in (outlook.likely, outlook.possible))
    why = str(levels) if isinstance(levels, Absent) else "No flood level of the basin is known to have such a chance."
    threat = Threat(
        window_days=present("threat.window_days", stored if isinstance(stored, Absent) else stored.window_days),
        likely=likely,
        possible=possible,
        levels=present("threat.levels", levels if isinstance(levels, Absent) else list(shown)),
        alert=None if outlook.alert is None else _alert(building, outlook.alert),
    )
    return building.noted("threat", threat, {"likely": why, "possible": why, "alert": "There is none."})


def _alert(building: _Answer, standing: StandingAlert) -> AlertNow:
    alert, run, outlook = standing.alert, standing.run, building.outlook
    assert alert.severity is not None
    assert alert.since is not None
    shown = AlertNow(
        level=alert.level,
        title=level_title(alert.level),
        direction=alert.direction,
        severity=alert.severity,
        since=alert.since,
        is_ending=standing.is_ending,
        waits=standing.waits,
        chance=alert.chance,
        run=run.id,
        t0=as_date(run.t0),
        stale=stale(age_days(run.weather_until, outlook.at)),
        trend=alert.trend,
        impact=outlook.impacts.get(alert.level),
    )
    reasons = {"trend": "There was no run before to compare with.", "impact": "Nothing is stated."}
    return building.noted("threat.alert", shown, reasons)


def _change(building: _Answer) -> OutlookChange | Absent:
    outlook, stored = building.outlook, building.outlook.run_outlook
    before = stored if isinstance(stored, Absent) else stored.before
    if isinstance(before, Absent):
        return before
    threatens = outlook.possible or outlook.likeliest
    chance = None if threatens is None else before.chances.get(threatens.level)
    t0 = date.fromisoformat(before.t0)
    shown = OutlookChange(
        run=before.run,
        t0=t0,
        peak=building.missing.present("change.peak", _shown_peak(before.peak, t0, building.into)),
        likely=before.likely,
        level=None if threatens is None else threatens.level,
        chance=None if chance is None else rounded(chance),
        cause=building.missing.present("change.cause", before.cause),
    )
    reasons = {
        "likely": "None was likely.",
        "level": "No flood level of the basin is known.",
        "chance": "It was not compared with the level.",
    }
    return building.noted("change", shown, reasons)


def _snow(building: _Answer) -> SnowNow | Absent:
    snow, percent = building.outlook.snow, building.outlook.snow_percent
    if isinstance(snow, Absent):
        return snow
    present, skill, normal, judged = building.missing.present, snow.skill, snow.normal_mm, snow.against_normal
    reference = snow.reference
    return SnowNow(
        mean=rounded(snow.mean_mm),
        p05=rounded(snow.p05_mm),
        p95=rounded(snow.p95_mm),
        normal=present("snow.normal", normal if isinstance(normal, Absent) else rounded(normal)),
        percent_of_normal=present(
            "snow.percent_of_normal", percent if isinstance(percent, Absent) else rounded(percent)
        ),
        uncertain=judged.uncertain is not None,
        in_words=judged.in_words,
        reference=present(
            "snow.reference", reference if isinstance(reference, Absent) else rounded(reference.estimate.mm)
        ),
        mapping=snow.mapping,
        correlation=present("snow.correlation", skill if isinstance(skill, Absent) else rounded(skill.r)),
    )


def _season(building: _Answer) -> SeasonNow | Absent:
    season = building.outlook.season
    if isinstance(season, Absent):
        return season
    run, volume = season.run, season.volume
    period, percent = calendar.Period.parse(volume.period), volume.percent_of_normal
    return SeasonNow(
        run=run.id,
        t0=as_date(run.t0),
        stale=stale(age_days(run.weather_until, building.outlook.at)),
        season=volume.season,
        period=Period.between(period.first, period.last),
        calibrated=volume.is_calibrated,
        exceeded_percent=list(EXCEEDED_PERCENT),
        percent_of_normal=building.missing.present(
            "season.percent_of_normal", percent if isinstance(percent, Absent) else [*map(rounded, percent)]
        ),
    )


def _skill(building: _Answer) -> SkillNow | Absent:
    skill, present = building.outlook.skill, building.missing.present
    if isinstance(skill, Absent):
        return skill
    nse = skill.nse
    shown = SkillNow(
        nse=present("skill.nse", nse if isinstance(nse, Absent) else rounded(nse.value)),
        nse_of=skill.nse_of,
        nse_period=None if isinstance(nse, Absent) else Period.between(nse.period.first, nse.period.last),
        forecasts=present("skill.forecasts", _forecast_skill(building, skill.forecasts)),
    )
    return building.noted("skill", shown, {"nse_of": str(nse), "nse_period": str(nse)})


def _forecast_skill(building: _Answer, verified: skills.ForecastSkill | Absent) -> ForecastSkill | Absent:
    if isinstance(verified, Absent):
        return verified
    days, reliable, headline, present = verified.skilful, verified.reliable, verified.headline, building.missing.present
    issues = headline if isinstance(headline, Absent) else headline.independent_issues
    return ForecastSkill(
        version=verified.version,
        origin=verified.origin,
        weather=verified.weather,
        period=Period.between(verified.period.first, verified.period.last),
        month=verified.month,
        skilful_to_day=present("skill.forecasts.skilful_to_day", days if isinstance(days, Absent) else days.days),
        reliable_to_day=present(
            "skill.forecasts.reliable_to_day", reliable if isinstance(reliable, Absent) else reliable.days
        ),
        evidence_day=verified.evidence.lead,
        better_percent=rounded(100 * verified.evidence.crpss_climatology),
        independent_issues=present("skill.forecasts.independent_issues", issues),
    )
