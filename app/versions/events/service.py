"""Builds the answers about events."""

import numpy as np
from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.http.base_schema import Absences, Period
from app.http.json_numbers import rounded
from app.versions.events.schemas import EventCase, EventDays, EventError, EventErrors, EventRules, Events, EventSummary
from hydrology.base.calendar import Days, as_date, month
from hydrology.scores.event_scores import ERRORS, WINDOW, EventPair, EventScores, match_events
from hydrology.scores.events import MIN_APART, VALLEY, Event
from hydrology.verification.forecast_scores import high_flow
from hydrology.verification.results import SEASONS, Season
from records.basins import basins
from records.forecasts.latest import asked_version
from records.simulations import simulated_flow
from records.simulations.simulated_flow import NotSimulated
from records.versions import versions


def of_basin(session: Session, basin: str, version: str | None, season: Season) -> Events:
    """Return the events of a version (by default the current one) in a basin.

    Raises:
        UnknownBasin, UnknownVersion: one of them is not stored.
        NoModel: no version is named, and none is current.
        NotSimulated: neither the version nor its twin was evaluated in the basin on days with observed flow.
        Corrupt: the stored flow is damaged.
    """
    basins.require(session, basin)
    asked = asked_version(session, basin, version)
    flow = simulated_flow.newest(session, asked.evaluated_as, basin)
    days, observed = flow.period.days, flow.observed.astype(np.float64)
    if not np.isfinite(observed).any():
        raise NotSimulated(
            f"{basin} has no observed flow on the days of its evaluation, {flow.period}: ingest its streamflow and "
            "evaluate the version again."
        )
    threshold = high_flow(observed)
    pairs = match_events(flow.simulated.astype(np.float64), observed, threshold)
    chosen = [pair for pair in pairs if int(month(days[pair.peak])) in SEASONS[season]]
    missing = Absences()
    return Events(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=asked.id,
        scored=flow.version_id,
        season=season,
        period=Period.between(flow.period.first, flow.period.last),
        period_use=versions.get(session, flow.version_id).use_of(flow.period, basin),
        evaluated_at=flow.evaluated_at,
        rules=EventRules(
            threshold_mm_per_day=rounded(threshold), days_apart=MIN_APART, valley_share=VALLEY, window_days=WINDOW
        ),
        scores=_summary(EventScores.of(chosen), missing),
        events=[_case(pair, days) for pair in chosen],
        missing=missing.texts,
    )


def _summary(scores: EventScores, missing: Absences) -> EventSummary:
    errors = {name: missing.present(f"scores.errors.{name}", scores.errors[name]) for name in ERRORS}
    return EventSummary(
        observed=scores.observed,
        simulated=scores.simulated,
        matched=scores.matched,
        missed_share=missing.present("scores.missed_share", scores.missed_share),
        false_alarm_share=missing.present("scores.false_alarm_share", scores.false_alarm_share),
        errors=EventErrors(
            **{
                name: None
                if error is None
                else EventError(
                    mean=rounded(error.mean), absolute=rounded(error.absolute), median=rounded(error.median)
                )
                for name, error in errors.items()
            }
        ),
    )


def _case(pair: EventPair, days: Days) -> EventCase:
    errors = pair.errors
    return EventCase(
        observed=_days(pair.observed, days),
        simulated=_days(pair.simulated, days),
        volume_observed_mm=rounded(pair.volume_observed),
        volume_simulated_mm=rounded(pair.volume_simulated),
        errors=None if errors is None else {name: rounded(error) for name, error in errors.items()},
    )


def _days(event: Event | None, days: Days) -> EventDays | None:
    if event is None:
        return None
    start, peak, end = (as_date(days[at]) for at in (event.start, event.peak, event.end))
    return EventDays(start=start, peak=peak, end=end, height_mm_per_day=rounded(event.height))
