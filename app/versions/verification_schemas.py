"""Answers about verification."""

from datetime import datetime
from typing import Any

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Missing, Model, Period
from app.versions.scores import SCORED, USE
from hydrology.verification.held_out_years import PeriodUse
from hydrology.verification.results import Season
from records.verification.lead_scores import Origin

_MEANING = {
    "crps_mm_per_day": "Mean continuous ranked probability score, mm/day; 0 is perfect.",
    "crpss_climatology": "1 less the CRPS over that of climatology; 1 is perfect, 0 no better.",
    "crpss_persistence": "1 less the CRPS over that of persistence; 1 is perfect, 0 no better.",
    "coverage_90": "Share of days within the interval from the 5 % to the 95 % quantile; 0.9 is right.",
    "coverage_50": "Share of days within the interval from the 25 % to the 75 % quantile; 0.5 is right.",
    "width_90_mm_per_day": "Mean width of the 90 % interval, mm/day.",
    "width_50_mm_per_day": "Mean width of the 50 % interval, mm/day.",
    "nse_of_median": "Nash-Sutcliffe efficiency of the median; 1 is perfect.",
    "brier": "Brier score, the mean squared error of the exceedance probability of the threshold; 0 is perfect.",
    "pod": "Probability of detection: of the days that passed the threshold, the share that was warned of, at a chance "
    "of 50 % or more.",
    "far": "False alarm ratio: of the days that were warned of, the share that did not pass the threshold.",
    "csi": "Critical success index: of the days that passed the threshold or were warned of, the share that is both.",
}
INDEPENDENT = (
    "Number of forecasts that share no day with one another: the largest number whose days after T0, up to this lead, "
    "do not overlap. Null where it was verified before they were counted."
)


def _score(name: str) -> Any:
    return Field(description=_MEANING[name])


def _end(which: str) -> Any:
    return Field(description=f"The {which} end of its 95 % interval, from resampled water years.")


class OfForecaster(Model):
    """The forecaster, weather and period."""

    origin: Origin = Field(
        description="`reforecast`: computed afterwards for past days. `issued`: as issued by the service day by day, "
        "verified with later observations.",
    )
    weather: str = Field(
        description="After T0. `observed`: observed weather. `climatology`: that of other years. Else a weather "
        "forecast, by its source and model.",
    )
    scored: str = Field(description=SCORED)
    period: Period = Field(description="T0 and the forecast days lie in it.")
    period_use: PeriodUse = Field(description=f"Of the verified days: those of the training are left out. {USE}")
    forecaster: str = Field(
        description="`calibrated`: the quantiles of the version's error model. `raw`: the uncalibrated members. "
        "`climatology`: the flow of other water years within a week of the day of the year. `persistence`: the last "
        "observed flow. `adjusted`: the forecasts that a forecaster adjusted and published; `as-issued`: the same ones "
        "before that."
    )


class OfLead(OfForecaster):
    """The forecaster, weather, period and lead time."""

    lead: int = Field(description="Days after T0.")


class Reliability(Model):
    """Reliability of the chance of passing the threshold, by tenths of the forecast chance."""

    forecast: list[float] = Field(description="The mean chance in each tenth.")
    observed: list[float] = Field(description="Share of these days on which the threshold was passed.")
    days: list[int] = Field(description="Number of these days.")


class MonthSkill(Model):
    """Skill against climatology on the forecast days of a calendar month."""

    month: int
    n: int = Field(description="Number of forecasts.")
    years: int = Field(description="Number of their water years.")
    independent_issues: int | None = Field(description=INDEPENDENT)
    crpss: float | None = Field(description=f"{_MEANING['crpss_climatology']} Null without a forecast.")
    low: float | None = Field(description="The lower end of its 95 % interval; null with too few water years.")
    high: float | None = Field(description="The upper end.")


class LeadVerification(OfLead):
    """The scores of one forecaster at one lead."""

    every_days: int | None = Field(description="Days between successive T0; null for issued forecasts.")
    error_model: str | None = Field(
        description="Hash of the error model, the newest where there were several; null where none was used."
    )
    attributes_assumed: list[str] = Field(description="The attributes of the basin that were assumed.")
    n: int = Field(description="Number of forecasts: those with observed flow on T0 and on the valid day.")
    years: int = Field(description="Number of water years.")
    independent_issues: int | None = Field(description=INDEPENDENT)
    crps_mm_per_day: float | None = _score("crps_mm_per_day")
    crpss_climatology: float | None = _score("crpss_climatology")
    crpss_climatology_low: float | None = _end("lower")
    crpss_climatology_high: float | None = _end("upper")
    crpss_persistence: float | None = _score("crpss_persistence")
    crpss_persistence_low: float | None = _end("lower")
    crpss_persistence_high: float | None = _end("upper")
    coverage_90: float | None = _score("coverage_90")
    coverage_90_low: float | None = _end("lower")
    coverage_90_high: float | None = _end("upper")
    coverage_50: float | None = _score("coverage_50")
    width_90_mm_per_day: float | None = _score("width_90_mm_per_day")
    width_50_mm_per_day: float | None = _score("width_50_mm_per_day")
    nse_of_median: float | None = _score("nse_of_median")
    threshold_mm_per_day: float | None = Field(
        description="The threshold: the flow exceeded on 2 % of the observed days, mm/day: in the period, or, for "
        "issued forecasts, in the whole record."
    )
    brier: float | None = _score("brier")
    pod: float | None = _score("pod")
    far: float | None = _score("far")
    csi: float | None = _score("csi")
    pit: list[float] | None = Field(
        description="Number of days in each tenth of the probability integral transform: equal if the forecasts are "
        "reliable. A day whose observation equals several quantiles is shared among their tenths."
    )
    reliability: Reliability | None
    months: list[MonthSkill] | None = Field(description="By calendar month, January first; of the season `all` alone.")
    missing: Missing
    verified_at: datetime


class BasinVerification(Model):
    """Verification of a model version's forecasts in a basin."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    season: Season
    verification: list[LeadVerification] = Field(description="By origin, weather, period, lead and forecaster.")


class PooledScore(Model):
    """A score over the basins; null where no basin has a value."""

    n: int = Field(description="Number of basins with a value.")
    p25: float | None
    median: float | None
    p75: float | None


class PooledLead(OfLead):
    """The quartiles over the basins of each score of one forecaster at one lead."""

    basins: int = Field(description="Number of basins.")
    crps_mm_per_day: PooledScore = _score("crps_mm_per_day")
    crpss_climatology: PooledScore = _score("crpss_climatology")
    crpss_persistence: PooledScore = _score("crpss_persistence")
    coverage_90: PooledScore = _score("coverage_90")
    coverage_50: PooledScore = _score("coverage_50")
    width_90_mm_per_day: PooledScore = _score("width_90_mm_per_day")
    width_50_mm_per_day: PooledScore = _score("width_50_mm_per_day")
    nse_of_median: PooledScore = _score("nse_of_median")
    brier: PooledScore = _score("brier")
    pod: PooledScore = _score("pod")
    far: PooledScore = _score("far")
    csi: PooledScore = _score("csi")
    missing: Missing


class ModelVerification(Model):
    """Verification of a model version's forecasts over its basins."""

    version: str
    season: Season
    periods: list[Period] = Field(description="The stored periods.")
    verification: list[PooledLead] = Field(description="By origin, weather, period, lead and forecaster.")
