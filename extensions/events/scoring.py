"""Scores of the events of a hydrograph: peak time and height, volume, onset, missed events and false alarms.

A simulated event matches an observed one if its peak lies within `WINDOW` days. An event is judged only where the flow
of its days and of the day before and after is known; a missed event or a false alarm only where that of `WINDOW` days
around it is, since its match may hide in a gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Self

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.doc import Doc
from hydrology.base.reasons import Reason
from hydrology.scores.events import MIN_APART, Event, cut_events

WINDOW = 3
"""Largest distance in days between the peaks of a match."""
assert MIN_APART > 2 * WINDOW  # no event has two matches


@dataclass(frozen=True, slots=True)
class EventPair:
    """An observed event and the simulated one that matches it; without one of them missed, or a false alarm.

    The volumes are sums of the flow over the days of either event.
    """

    observed: Event | None
    simulated: Event | None
    volume_observed: float
    volume_simulated: float

    @property
    def peak(self) -> int:
        """The day of the observed peak; of a false alarm, of the simulated one."""
        event = self.observed or self.simulated
        assert event is not None
        return event.peak

    @property
    def errors(self) -> dict[str, float] | None:
        """The errors by the names of `EventErrors`; None where an event is missing."""
        if self.observed is None or self.simulated is None:
            return None
        return {
            "peak_time_days": float(self.simulated.peak - self.observed.peak),
            "peak_height_percent": 100 * (self.simulated.height / self.observed.height - 1),
            "volume_percent": 100 * (self.volume_simulated / self.volume_observed - 1),
            "onset_days": float(self.simulated.start - self.observed.start),
        }


def match_events(simulated: Array, observed: Array, threshold: float) -> list[EventPair]:
    """Return a basin's judged events, matched, by day of peak; flow (days,) in one unit, NaN where missing."""
    known = np.isfinite(simulated) & np.isfinite(observed)
    flows = [np.where(known, flow, np.nan) for flow in (observed, simulated)]
    observed_events, simulated_events = (cut_events(flow, threshold) for flow in flows)
    matches = [
        (event, next((other for other in simulated_events if abs(other.peak - event.peak) <= WINDOW), None))
        for event in observed_events
    ]
    taken = {match.peak for _, match in matches if match is not None}
    alarms = [(None, event) for event in simulated_events if event.peak not in taken]
    pairs = [_pair(of_observed, match, *flows) for of_observed, match in [*matches, *alarms]]
    return sorted((pair for pair in pairs if _judged(pair, known)), key=lambda pair: pair.peak)


def _pair(observed: Event | None, simulated: Event | None, of_observed: Array, of_simulated: Array) -> EventPair:
    start, end = _days_of(observed, simulated)
    volumes = (float(np.nansum(flow[start : end + 1])) for flow in (of_observed, of_simulated))
    return EventPair(observed, simulated, *volumes)


def _judged(pair: EventPair, known: np.ndarray) -> bool:
    reach = WINDOW if pair.errors is None else 1
    start, end = _days_of(pair.observed, pair.simulated)
    return start >= reach and end + reach < len(known) and bool(known[start - reach : end + reach + 1].all())


def _days_of(*events: Event | None) -> tuple[int, int]:
    there = [event for event in events if event is not None]
    return min(event.start for event in there), max(event.end for event in there)


@dataclass(frozen=True, slots=True)
class EventError:
    """An error over the matched events."""

    mean: Annotated[float, Doc("The bias.")]
    absolute: Annotated[float, Doc("The mean size.")]
    median: float


@dataclass(frozen=True, slots=True)
class EventErrors:
    """Errors of matched events, simulated against observed."""

    peak_time_days: Annotated[EventError | Absent, Doc("Of the day of the peak; above 0 is late.")]
    peak_height_percent: Annotated[EventError | Absent, Doc("Of the peak; above 0 is too high.")]
    volume_percent: Annotated[EventError | Absent, Doc("Of the water over the days of either event.")]
    onset_days: Annotated[EventError | Absent, Doc("Of the first day above the threshold; above 0 is late.")]


@dataclass(frozen=True, slots=True)
class EventScores:
    """The scores of events."""

    observed: Annotated[int, Doc("Number of observed events.")]
    simulated: Annotated[int, Doc("Number of simulated events.")]
    matched: Annotated[int, Doc("Number of events that are both.")]
    missed_share: Annotated[float | Absent, Doc("Share of the observed events that were missed.")]
    false_alarm_share: Annotated[float | Absent, Doc("Share of the simulated events that did not occur.")]
    errors: EventErrors

    @classmethod
    def of(cls, pairs: Sequence[EventPair]) -> Self:
        """Compute them from the events of a season."""
        matched = [errors for pair in pairs if (errors := pair.errors) is not None]
        observed = sum(pair.observed is not None for pair in pairs)
        simulated = sum(pair.simulated is not None for pair in pairs)
        return cls(
            observed,
            simulated,
            len(matched),
            1 - len(matched) / observed if observed else absent(Reason.NO_EVENT),
            1 - len(matched) / simulated if simulated else absent(Reason.NO_SIMULATED_EVENT),
            EventErrors(
                **{
                    field.name: _error(np.array([errors[field.name] for errors in matched]))
                    for field in fields(EventErrors)
                }
            ),
        )


def _error(values: Array) -> EventError | Absent:
    if not len(values):
        return absent(Reason.NO_MATCHED_EVENT)
    return EventError(float(values.mean()), float(np.abs(values).mean()), float(np.median(values)))
