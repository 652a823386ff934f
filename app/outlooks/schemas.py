"""Answers with outlooks of basins."""

from datetime import date, datetime
from typing import Annotated

from pydantic import Field

from app.adjustments.adjustments import Adjustment
from app.basins.run_levels import ADVICE, Stage, StatedAdvice, WithReturnPeriod
from app.basins.schemas import BasinKind
from app.forecasts.header import SUPERSEDED, Days, FieldUnits, GappyColumns, LeadDays
from app.http.base_schema import EXPLAINED, Missing, Model, Number, OfBasin, Period, column, next_page
from app.http.shown import As
from hydrology.alerts import Severity, Trend
from hydrology.base.doc import Why
from hydrology.extremes.level_checks import LIKELY, POSSIBLE
from hydrology.outlook import STEADY_SHARE, TREND_DAYS, FlowBasis
from hydrology.uncertainty.exceedance import Direction
from records.forecasts.latest import Superseded as NewerRun
from records.outlooks.reader import Freshness
from records.runs.run_summary import MappingKind
from records.verification.lead_scores import Origin

OutlookFreshness = Annotated[
    Freshness,
    As("OutlookFreshness", rename=(("awaited", "awaited_version"),), parts=((NewerRun, SUPERSEDED),)),
]
_NO_THREAT = Why("No flood level of the basin is known to have such a chance.")


class OutlookNow(Model):
    """The last observed flow."""

    day: date
    age_days: int = Field(description="Days that it lies behind the service's clock.")
    discharge: float
    stage: Stage
    change: float | None = Field(description=f"Since {TREND_DAYS} days before.")
    trend: Trend | None = Field(description=f"Its direction; `steady` within {STEADY_SHARE:.0%} of the flow before.")
    level: Annotated[str | None, Why("It is above no flood level that is known.")] = Field(
        description="The highest flood level that it is above."
    )


class OutlookDays(Model):
    """The published distribution of flow by day, after the last past day."""

    time: Days
    lead_days: LeadDays
    mean: list[float | None] = Field(description=column("The mean; null on days that an adjustment moves no flow to"))
    quantiles: GappyColumns = Field(description=column("The quantiles, `median` among them"))
    issued: GappyColumns | None = Field(
        description=column("The quantiles as issued; null where the forecast was not adjusted")
    )
    percent_of_normal: Number | None = Field(description="The sum of the medians in % of the normal of the same days.")


class OutlookPeak(WithReturnPeriod):
    """The highest day ahead, over the paths of the distribution."""

    discharge: float = Field(description="The median of the highest daily mean.")
    p05: float = Field(description="Exceeded with a chance of 95 %.")
    p95: float = Field(description="Exceeded with a chance of 5 %.")
    day: date = Field(description="The median of its day.")
    day_p05: date = Field(description="It is earlier with a chance of 5 % at most.")
    day_p95: date = Field(description="It is later with a chance of 5 % at most.")


class ThreatLevel(Model):
    """A level and the chance that flow passes it."""

    level: str = Field(description="Its name in `/v1/basins/{basin}/thresholds`.")
    title: str = Field(description="The same for a reader.")
    direction: Direction
    return_period_years: float | None
    discharge: float
    stage: Stage
    chance: Number = Field(description="Of passing it on any day of the window, by the published distribution.")
    impact: str | None = Field(description="What happens from it on, as its source states it.")


class AlertNow(Model):
    """The most severe alert, as it stands, also while a change of it waits."""

    level: str
    title: str
    direction: Direction
    severity: Severity
    since: datetime
    is_ending: bool = Field(description="Whether the chance no longer holds it: it ends with further such runs.")
    waits: bool = Field(description="Whether a change of the basin's alerts waits for approval.")
    chance: float = Field(description="By the run that decided it.")
    run: str = Field(description="The run that decided it.")
    t0: date = Field(description="Its T0.")
    stale: bool = Field(description="Whether that run is stale.")
    trend: Annotated[Trend | None, Why("There was no run before to compare with.")] = Field(
        description="Of the chance since the run before."
    )
    impact: Annotated[str | None, Why("Nothing is stated.")]


class Threat(Model):
    """The levels of the basin that flow may pass."""

    window_days: int | None = Field(description="Number of days after the last past day that the chances cover.")
    likely: Annotated[ThreatLevel | None, _NO_THREAT] = Field(
        description=f"The highest flood level with a chance of {LIKELY:.0%} or more."
    )
    possible: Annotated[ThreatLevel | None, _NO_THREAT] = Field(
        description=f"The highest with a chance of {POSSIBLE:.0%} or more."
    )
    levels: list[ThreatLevel] | None = Field(description="Every level that can have an alert.")
    alert: Annotated[AlertNow | None, Why("There is none.")]
    advice: list[StatedAdvice] = Field(description=ADVICE)


class OutlookChange(Model):
    """The issue before, to compare with."""

    run: str
    t0: date
    peak: OutlookPeak | None
    likely: Annotated[str | None, Why("None was likely.")] = Field(description="Its highest likely level.")
    level: Annotated[str | None, Why("No flood level of the basin is known.")] = Field(
        description="The level that threatens now: the highest likely, else the highest possible, else the likeliest."
    )
    chance: Annotated[Number | None, Why("It was not compared with the level.")] = Field(
        description="The chance of that level by the issue before."
    )
    cause: str | None = Field(description="The largest part of the change on the day of the peak.")


class SnowNow(Model):
    """The snow of T0, mm."""

    mean: Number
    p05: Number
    p95: Number
    normal: Number | None
    percent_of_normal: Number | None
    uncertain: bool = Field(description="As in `/v1/basins/{basin}/forecasts/latest`.")
    in_words: str = Field(description="In % of normal, or what is uncertain.", examples=["85 % of normal"])
    reference: Number | None = Field(description="The basin's reference snow.")
    mapping: MappingKind = Field(description="Choice of its cells, as in `/v1/basins/{basin}/storage`.")
    correlation: Number | None = Field(description="Pearson's, with reference snow on days not used to choose them.")


class SeasonNow(Model):
    """The volume of the season, by the newest run that holds it."""

    run: str
    t0: date
    stale: bool
    season: str
    period: Period
    calibrated: bool
    exceeded_percent: list[int] = Field(description="Chances of exceeding the values beside, %.")
    percent_of_normal: list[Number] | None


class ForecastSkill(Model):
    """Skill of calibrated forecasts, on days that the version has not learnt from."""

    version: str = Field(description="The version that was verified: the same, or its twin.")
    origin: Origin = Field(description="`reforecast` or `issued`, as in `/verification`.")
    weather: str = Field(description="After T0, as in `/verification`.")
    period: Period
    month: int = Field(description="Calendar month of the last day ahead.")
    skilful_to_day: int | None = Field(description="Until which day ahead forecasts of the month beat climatology.")
    reliable_to_day: int | None = Field(
        description="Until which day ahead forecasts of any month beat climatology and their 90 % range held."
    )
    evidence_day: int = Field(description="The day of the first of these that is known, or the first day.")
    better_percent: Number = Field(
        description="By how much forecasts of any month are better than climatology on that day: the skill score of "
        "the CRPS, %."
    )
    independent_issues: int | None = Field(description="Number of forecasts behind the headline that share no day.")


class SkillNow(Model):
    """Skill on days that the version has not learnt from."""

    nse: Number | None = Field(description="Nash-Sutcliffe efficiency of its simulation.")
    nse_of: str | None = Field(description="The version that was evaluated: the same, or its twin.")
    nse_period: Period | None = Field(description="The first and the last of the days.")
    forecasts: ForecastSkill | None


class BasinOutlook(OfBasin):
    """A basin in short: flow now and on the days ahead, its peak, threat, change, snow, season and skill."""

    basin_kind: BasinKind
    at: datetime = Field(description="The service's clock.")
    run: str | None
    version: str | None
    t0: date | None
    issued_at: datetime | None
    units: FieldUnits
    flow: FlowBasis | None = Field(
        description="The distribution behind every number: `calibrated` by the version's error model, or the "
        "uncalibrated `members` with every trace of weather."
    )
    adjustment: Adjustment | None = Field(description="The published one that the numbers follow.")
    freshness: OutlookFreshness
    now: OutlookNow | None
    days: OutlookDays | None
    peak: OutlookPeak | None = Field(description="Null where flow more likely falls from the last past day than rises.")
    threat: Threat
    change: OutlookChange | None
    snow: SnowNow | None
    season: SeasonNow | None
    skill: SkillNow | None
    missing: Missing = EXPLAINED


class OutlookPage(Model):
    """Outlooks in the order of basins."""

    outlooks: list[BasinOutlook]
    next: str | None = next_page("/v1/outlooks?limit=100&after=USGS-01013500")
