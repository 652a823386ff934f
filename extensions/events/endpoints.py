"""/v1/basins/{basin}/events: the events of a basin, as a model version simulates them."""

from datetime import date
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.dependencies import OF_VERSION, BasinId, ChosenVersion, Reading
from app.http.json_numbers import rounded
from app.http.shown import As
from app.versions.simulation import Evaluation, newest_evaluation
from app.versions.verification import OfSeason
from extensions.events.scoring import WINDOW, EventPair, EventScores, match_events
from hydrology.base import calendar
from hydrology.scores.events import MIN_APART, VALLEY, Event
from hydrology.verification.results import ALL_YEAR, HIGH_SHARE, SEASONS, Season, high_flow
from records.simulations.simulated_series import NotSimulated

router = APIRouter(tags=["skill"])


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


class Events(Evaluation):
    """The events of a basin as a model version simulates them with observed weather."""

    season: Season
    rules: EventRules
    scores: Annotated[EventScores, As("EventSummary")]
    events: list[EventCase] = Field(description="By the day of the peak.")
    missing: Missing = EXPLAINED


def events_of(session: Session, basin: str, version: str | None, season: Season) -> Events:
    """Return the events of a version (by default the current one) in a basin."""
    flow, evaluation = newest_evaluation(session, basin, version)
    days, observed = flow.period.days, flow.observed.astype(np.float64)
    if not np.isfinite(observed).any():
        raise NotSimulated(
            f"{basin} has no observed flow on the days of its evaluation, {flow.period}: ingest its streamflow and "
            "evaluate the version again."
        )
    threshold = high_flow(observed)
    pairs = match_events(flow.simulated.astype(np.float64), observed, threshold)
    chosen = [pair for pair in pairs if int(calendar.month(days[pair.peak])) in SEASONS[season]]
    return Events.from_records(
        flow,
        **evaluation,
        season=season,
        rules=EventRules(
            threshold_mm_per_day=rounded(threshold), days_apart=MIN_APART, valley_share=VALLEY, window_days=WINDOW
        ),
        scores=EventScores.of(chosen),
        events=[_case(pair, days) for pair in chosen],
    )


def _case(pair: EventPair, days: calendar.Days) -> EventCase:
    errors = pair.errors
    return EventCase(
        observed=_days(pair.observed, days),
        simulated=_days(pair.simulated, days),
        volume_observed_mm=rounded(pair.volume_observed),
        volume_simulated_mm=rounded(pair.volume_simulated),
        errors=None if errors is None else {name: rounded(error) for name, error in errors.items()},
    )


def _days(event: Event | None, days: calendar.Days) -> EventDays | None:
    if event is None:
        return None
    start, peak, end = (calendar.as_date(days[at]) for at in (event.start, event.peak, event.end))
    return EventDays(start=start, peak=peak, end=end, height_mm_per_day=rounded(event.height))


@router.get(
    "/basins/{basin}/events",
    summary="Scores of the events of a basin: time, height, volume and onset of peaks",
    **documented_responses(Events, *OF_VERSION, NotSimulated),
)
def read_events(
    session: Reading, basin: BasinId, answer: JsonAnswer, version: ChosenVersion = None, season: OfSeason = ALL_YEAR
) -> Response:
    """Events cut from the observed and the simulated hydrograph of the newest evaluation, matched, with the errors of
    each; missed events and false alarms. The season is that of the peak. An event beside a gap is left out."""
    return answer.of(events_of(session, basin, version, season))
