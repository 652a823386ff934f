"""Answers about events."""

from datetime import date, datetime

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Missing, Model, Period
from app.versions.scores.schemas import SCORED, USE
from hydrology.verification.forecast_scores import HIGH_SHARE
from hydrology.verification.held_out_years import PeriodUse
from hydrology.verification.results import Season


class EventError(Model):
    """An error over the matched events."""

    mean: float = Field(description="The bias.")
    absolute: float = Field(description="The mean size.")
    median: float


class EventErrors(Model):
    """Errors of matched events, simulated against observed."""

    peak_time_days: EventError | None = Field(description="Of the day of the peak; above 0 is late.")
    peak_height_percent: EventError | None = Field(description="Of the peak; above 0 is too high.")
    volume_percent: EventError | None = Field(description="Of the water over the days of either event.")
    onset_days: EventError | None = Field(description="Of the first day above the threshold; above 0 is late.")


class EventSummary(Model):
    """The scores of events."""

    observed: int = Field(description="Number of observed events.")
    simulated: int = Field(description="Number of simulated events.")
    matched: int = Field(description="Number of events that are both.")
    missed_share: float | None = Field(description="Share of the observed events that were missed.")
    false_alarm_share: float | None = Field(description="Share of the simulated events that did not occur.")
    errors: EventErrors


class EventDays(Model):
    """An event of a hydrograph."""

    start: date = Field(description="The first day above the threshold.")
    peak: date
    end: date = Field(description="The last day above the threshold.")
    height_mm_per_day: float = Field(description="Mean flow on the day of the peak.")


class EventCase(Model):
    """An observed event and its simulation: a missed event has no simulated one, a false alarm no observed one."""

    observed: EventDays | None
    simulated: EventDays | None
    volume_observed_mm: float = Field(description="Observed flow over the days of either event.")
    volume_simulated_mm: float = Field(description="Simulated flow over these days.")
    errors: dict[str, float] | None = Field(description="By the names of `scores.errors`; null without a match.")


class EventRules(Model):
    """How events are cut and matched."""

    threshold_mm_per_day: float = Field(
        description=f"Flow exceeded on {100 * HIGH_SHARE:g} % of the observed days of the evaluation."
    )
    days_apart: int = Field(description="Days between two independent peaks, at least.")
    valley_share: float = Field(description="Between them flow falls below this share of the lower peak.")
    window_days: int = Field(description="Days between the peaks of a match, at most.")


class Events(Model):
    """The events of a basin as a model version simulates them with observed weather."""

    basin: str
    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    scored: str = Field(description=SCORED)
    season: Season
    period: Period = Field(description="The days of the evaluation.")
    period_use: PeriodUse = Field(description=USE)
    evaluated_at: datetime
    rules: EventRules
    scores: EventSummary
    events: list[EventCase] = Field(description="By the day of the peak.")
    missing: Missing
