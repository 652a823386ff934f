"""Answers with outlooks of basins."""

from datetime import date, datetime

from pydantic import Field

from app.adjustments.answers import Adjustment
from app.basins.ratings import Stage
from app.basins.schemas import BasinKind
from app.forecasts.schemas import Days, FieldUnits, GappyColumns, LeadDays, Superseded
from app.http.base_schema import Missing, Model, OfBasin, Period, column, next_page
from hydrology.alerts import Severity, Trend
from hydrology.base.calendar import STALE_AFTER_DAYS
from hydrology.outlook import LIKELY, POSSIBLE, STEADY_SHARE, TREND_DAYS, FlowBasis
from hydrology.uncertainty.exceedance import Direction
from records.outlooks.reader import State
from records.runs.run_summary import MappingKind
from records.verification.lead_scores import Origin


class OutlookFreshness(Model):
    """How current the forecast is."""

    state: State = Field(
        description=f"`stale`: its weather ends more than {STALE_AFTER_DAYS} days before the clock. `withheld`: the "
        "newest run was not issued, and there is none before. `missing`: there is no run."
    )
    reason: str | None = Field(description="Why it is not fresh.")
    since: datetime | None = Field(description="From when on it is so, by the service's clock.")
    newer: Superseded | None = Field(description="A newer run that was withheld: the forecast is the one before.")
    awaited_version: str | None = Field(description="The promoted version that has issued no forecast yet.")


class OutlookNow(Model):
    """The last observed flow."""

    day: date
    age_days: int = Field(description="Days that it lies behind the service's clock.")
    discharge: float
    stage: Stage
    change: float | None = Field(description=f"Since {TREND_DAYS} days before.")
    trend: Trend | None = Field(description=f"Its direction; `steady` within {STEADY_SHARE:.0%} of the flow before.")
    level: str | None = Field(description="The highest flood level that it is above.")


class OutlookDays(Model):
    """The published distribution of flow by day, after the last past day."""

    time: Days
    lead_days: LeadDays
    mean: list[float | None] = Field(description=column("The mean; null on days that an adjustment moves no flow to"))
    quantiles: GappyColumns = Field(description=column("The quantiles, `median` among them"))
    issued: GappyColumns | None = Field(
        description=column("The quantiles as issued; null where the forecast was not adjusted")
    )
    percent_of_normal: float | None = Field(description="The sum of the medians in % of the normal of the same days.")


class OutlookPeak(Model):
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
    return_period_years: int | None
    discharge: float
    stage: Stage
    chance: float = Field(description="Of passing it on any day of the window, by the published distribution.")
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
    trend: Trend | None = Field(description="Of the chance since the run before.")
    impact: str | None


class Threat(Model):
    """The levels of the basin that flow may pass."""

    window_days: int | None = Field(description="Number of days after the last past day that the chances cover.")
    likely: ThreatLevel | None = Field(description=f"The highest flood level with a chance of {LIKELY:.0%} or more.")
    possible: ThreatLevel | None = Field(description=f"The highest with a chance of {POSSIBLE:.0%} or more.")
    levels: list[ThreatLevel] | None = Field(description="Every level that can have an alert.")
    alert: AlertNow | None


class OutlookChange(Model):
    """The issue before, to compare with."""

    run: str
    t0: date
    peak: OutlookPeak | None
    likely: str | None = Field(description="Its highest likely level.")
    level: str | None = Field(description="The level that threatens now: the highest possible, else the likeliest.")
    chance: float | None = Field(description="The chance of that level by the issue before.")
    cause: str | None = Field(description="The largest part of the change on the day of the peak.")


class SnowNow(Model):
    """The snow of T0, mm."""

    mean: float
    p05: float
    p95: float
    normal: float | None
    percent_of_normal: float | None
    uncertain: bool = Field(description="As in `/v1/basins/{basin}/forecasts/latest`.")
    in_words: str = Field(description="In % of normal, or what is uncertain.", examples=["85 % of normal"])
    reference: float | None = Field(description="The basin's reference snow.")
    mapping: MappingKind = Field(description="Choice of its cells, as in `/v1/basins/{basin}/storage`.")
    correlation: float | None = Field(description="Pearson's, with reference snow on days not used to choose them.")


class SeasonNow(Model):
    """The volume of the season, by the newest run that holds it."""

    run: str
    t0: date
    stale: bool
    season: str
    period: Period
    calibrated: bool
    exceeded_percent: list[int] = Field(description="Chances of exceeding the values beside, %.")
    percent_of_normal: list[float] | None


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
    better_percent: float = Field(
        description="By how much forecasts of any month are better than climatology on that day: the skill score of "
        "the CRPS, %."
    )
    independent_issues: int | None = Field(description="Number of forecasts behind the headline that share no day.")


class SkillNow(Model):
    """Skill on days that the version has not learnt from."""

    nse: float | None = Field(description="Nash-Sutcliffe efficiency of its simulation.")
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
    missing: Missing


class OutlookPage(Model):
    """Outlooks in the order of basins."""

    outlooks: list[BasinOutlook]
    next: str | None = next_page("/v1/outlooks?limit=100&after=USGS-01013500")
