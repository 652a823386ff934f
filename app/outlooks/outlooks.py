"""/v1/basins/{basin}/outlook and /v1/outlooks"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from operator import attrgetter
from typing import Annotated, Any

from fastapi import APIRouter, Response
from sqlalchemy.orm import Session

from app.adjustments.adjustments import adjustment_answer
from app.basins.queries import BasinCursor, InPlace, Text
from app.basins.run_levels import return_period, stage_of
from app.basins.schemas import named_kind
from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.forecasts.discharge import DischargeUnits, level_name
from app.http.base_schema import maybe
from app.http.dependencies import BasinId, ChosenRun, Page, Reading, ServiceClock, paged
from app.http.json_numbers import rounded
from app.outlooks import schemas
from hydrology.base.absent import NOT_STORED, Absent, absent
from hydrology.base.calendar import Period, age_days, as_date, stale
from hydrology.base.reasons import Reason
from hydrology.base.units import Units, converted
from hydrology.climatology.volumes import EXCEEDED_PERCENT
from hydrology.extremes.level_checks import level_title
from hydrology.outlook import LEVELS, LevelOutlook, Peak, Values
from records.basins import basins
from records.basins.regions import UnknownRegion
from records.outlooks import reader
from records.outlooks.skill import BasinSkill, ForecastSkill
from records.runs.run_summary import RunSnow
from records.runs.run_types import UnknownRun

NO_AREA, NOT_ADJUSTED = absent(Reason.RUN_WITHOUT_AREA), absent(Reason.NOT_ADJUSTED)


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer that is built: the outlook, and the unit of its discharge."""

    outlook: reader.Outlook
    units: Units

    def holds(self, unit: Units) -> bool:
        return self.outlook.area is not None or (self.units == "mm/day") == (unit == "mm/day")

    def value(self, flow: float, unit: Units = "mm/day") -> float:
        return rounded(float(converted(flow, unit=unit, into=self.units, area=self.outlook.area)))

    def column(self, flows: Values) -> list[float | None]:
        return [None if flow is None else self.value(flow) for flow in flows]

    def quantiles(self, rows: Sequence[Values]) -> dict[str, list[float | None]]:
        return {level_name(level): self.column(row) for level, row in zip(LEVELS, rows, strict=True)}

    def level(self, level: LevelOutlook) -> schemas.ThreatLevel:
        return schemas.ThreatLevel.from_records(
            level,
            title=level_title(level.level),
            discharge=self.value(level.discharge, "m3/s"),
            stage=stage_of(self.outlook.rating, level.discharge),
            impact=self.impact(level.level),
        )

    def impact(self, level: str) -> str | None:
        text = self.outlook.texts.get(level)
        return None if text is None else text.impact

    def now(self) -> schemas.OutlookNow | Absent:
        now, level = self.outlook.now, self.outlook.level_now
        if isinstance(now, Absent):
            return now
        if not self.holds("m3/s"):
            return NO_AREA
        return schemas.OutlookNow.from_records(
            now,
            age_days=age_days(now.day, self.outlook.at),
            discharge=self.value(now.flow, "m3/s"),
            stage=stage_of(self.outlook.rating, now.flow),
            change=maybe(now.change, lambda change: self.value(change, "m3/s")),
            level=None if level is None else level.level,
        )

    def days(self) -> schemas.OutlookDays | Absent:
        stored = self.outlook.run_outlook
        if isinstance(stored, Absent) or not self.holds("mm/day"):
            return stored if isinstance(stored, Absent) else NO_AREA
        days = stored.published.days
        return schemas.OutlookDays(
            time=[self.outlook.day_of(lead) for lead in days.leads],
            lead_days=list(days.leads),
            mean=self.column(days.mean),
            quantiles=self.quantiles(days.quantiles),
            issued=maybe(NOT_ADJUSTED if stored.adjusted is None else self.quantiles(stored.issued.days.quantiles)),
            percent_of_normal=maybe(stored.published.percent_of_normal),
        )

    def peak(self, peak: Peak | Absent, t0: date) -> schemas.OutlookPeak | Absent:
        if isinstance(peak, Absent) or not self.holds("mm/day"):
            return peak if isinstance(peak, Absent) else NO_AREA
        first, median, last = (t0 + timedelta(days=lead) for lead in (peak.first, peak.lead, peak.last))
        low, height, high = map(self.value, (peak.low, peak.height, peak.high))
        return schemas.OutlookPeak(
            discharge=height,
            p05=low,
            p95=high,
            day=median,
            day_p05=first,
            day_p95=last,
            **return_period(peak.return_period),
        )

    def threat(self) -> schemas.Threat:
        outlook, stored, levels = self.outlook, self.outlook.run_outlook, self.outlook.levels
        if not isinstance(levels, Absent) and not self.holds("m3/s"):
            levels = NO_AREA
        by_name = {} if isinstance(levels, Absent) else {level.level: self.level(level) for level in levels}
        why = levels if isinstance(levels, Absent) else None
        likely, possible = ((one and by_name.get(one.level)) or why for one in (outlook.likely, outlook.possible))
        return schemas.Threat(
            window_days=maybe(stored, lambda known: known.window_days),
            likely=maybe(likely),
            possible=maybe(possible),
            levels=maybe(why or list(by_name.values())),
            alert=None if outlook.alert is None else self.alert(outlook.alert),
            advice=list(outlook.advice),
        )

    def alert(self, standing: reader.StandingAlert) -> schemas.AlertNow:
        alert, run, outlook = standing.alert, standing.run, self.outlook
        return schemas.AlertNow.from_records(
            alert,
            standing,
            title=level_title(alert.level),
            run=run.id,
            t0=run.t0,
            stale=stale(age_days(run.weather_until, outlook.at)),
            impact=self.impact(alert.level),
        )

    def change(self) -> schemas.OutlookChange | Absent:
        outlook, stored = self.outlook, self.outlook.run_outlook
        before = stored if isinstance(stored, Absent) else stored.before
        if isinstance(before, Absent):
            return before
        threatens, t0 = outlook.likely or outlook.possible or outlook.likeliest, date.fromisoformat(before.t0)
        return schemas.OutlookChange.from_records(
            before,
            t0=t0,
            peak=self.peak(before.peak, t0),
            level=None if threatens is None else threatens.level,
            chance=None if threatens is None else before.chances.get(threatens.level),
        )

    def season(self) -> schemas.SeasonNow | Absent:
        season = self.outlook.season
        if isinstance(season, Absent):
            return season
        run, volume = season.run, season.volume
        return schemas.SeasonNow.from_records(
            volume,
            run=run.id,
            t0=run.t0,
            stale=stale(age_days(run.weather_until, self.outlook.at)),
            period=Period.parse(volume.period),
            calibrated=volume.is_calibrated,
            exceeded_percent=EXCEEDED_PERCENT,
        )


def answer_of(session: Session, outlook: reader.Outlook, units: Units) -> schemas.BasinOutlook:
    """Return an outlook, its discharges in a unit."""
    run, adjustment = None if outlook.forecast is None else outlook.forecast.run, outlook.adjustment
    shown, no_run = _Answer(outlook, units), outlook.freshness.reason or NOT_STORED
    of_run: dict[str, Any] = dict.fromkeys(("version", "t0", "issued_at"), no_run) if run is None else {}
    return schemas.BasinOutlook.from_records(
        outlook,
        run,
        basin_kind=named_kind(outlook.basin, outlook.owner),
        run=no_run if run is None else run.id,
        **of_run,
        units={"discharge": units, "snow": "mm"},
        flow=maybe(outlook.run_outlook, lambda stored: stored.basis),
        adjustment=NOT_ADJUSTED if adjustment is None else adjustment_answer(session, adjustment),
        now=shown.now(),
        days=shown.days(),
        peak=shown.peak(outlook.peak, date.min if run is None else as_date(run.t0)),
        threat=shown.threat(),
        change=shown.change(),
        snow=maybe(outlook.snow, lambda snow: _snow(snow, outlook.snow_percent)),
        season=shown.season(),
        skill=maybe(outlook.skill, _skill),
    )


def _snow(snow: RunSnow, percent: float | Absent) -> schemas.SnowNow:
    judged = snow.against_normal
    return schemas.SnowNow.from_records(
        snow,
        judged,
        mean=snow.mean_mm,
        p05=snow.p05_mm,
        p95=snow.p95_mm,
        normal=snow.normal_mm,
        percent_of_normal=percent,
        uncertain=judged.uncertain is not None,
        reference=maybe(snow.reference, lambda reference: reference.estimate.mm),
        correlation=maybe(snow.skill, lambda skill: skill.r),
    )


def _skill(skill: BasinSkill) -> schemas.SkillNow:
    return schemas.SkillNow(
        nse=maybe(skill.nse, lambda score: score.value),
        nse_of=maybe(skill.nse_of or skill.nse),
        nse_period=maybe(skill.nse, lambda score: score.period),
        forecasts=maybe(skill.forecasts, _forecast_skill),
    )


def _forecast_skill(verified: ForecastSkill) -> schemas.ForecastSkill:
    return schemas.ForecastSkill.from_records(
        verified,
        skilful_to_day=maybe(verified.skilful, lambda skilful: skilful.days),
        reliable_to_day=maybe(verified.reliable, lambda reliable: reliable.days),
        evidence_day=verified.evidence.lead,
        better_percent=100 * verified.evidence.crpss_climatology,
        independent_issues=maybe(verified.headline, attrgetter("independent_issues")),
    )


router = APIRouter(tags=["forecasts"])


@router.get(
    "/basins/{basin}/outlook",
    summary="Outlook of a basin: flow, peak, threat, change, snow, season, skill",
    **documented_responses(schemas.BasinOutlook, basins.UnknownBasin, UnknownRun),
)
def read_outlook(
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    answer: JsonAnswer,
    run: ChosenRun = None,
    units: DischargeUnits = "m3/s",
) -> Response:
    """A basin in short, each number once: the last observed flow; the published distribution of the days ahead,
    adjusted where a forecaster has published that; its peak; the levels that flow may pass, and the alert as it stands;
    the issue before; snow, season and skill; and how fresh the forecast is. Every other answer and page shows these
    numbers. A basin without a forecast has nulls with the reason."""
    return answer.of(answer_of(session, reader.outlook(session, basin, clock.now(), run), units))


@router.get(
    "/outlooks", summary="Outlooks of basins", **documented_responses(schema_of(schemas.OutlookPage), UnknownRegion)
)
def list_outlooks(
    session: Reading,
    clock: ServiceClock,
    page: Annotated[Page, paged(BasinCursor)],
    answer: JsonAnswer,
    fields: Annotated[FieldFilter, fields_of(schemas.OutlookPage)],
    place: InPlace,
    q: Text = None,
    units: DischargeUnits = "m3/s",
) -> Response:
    """Basins in the order of their identifiers, a page at a time: follow `next` until it is null."""
    rows = basins.list_basins(session, text=q, **place.filters, after=page.after, limit=page.sought)
    chosen, following = page.cut(rows)
    found = reader.outlooks(session, [basin.id for basin in chosen], clock.now())
    shown = schemas.OutlookPage(outlooks=[answer_of(session, one, units) for one in found.values()], next=following)
    return answer.of(shown, body=fields.body)
