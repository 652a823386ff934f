"""Holds the days of each place against those of the others: part of a grid may have stayed at an older run."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import numpy.typing as npt

from extensions.openmeteo.asking import Place
from hydrology.base.calendar import Day, Days, begin_of, days_between, last_ended_day
from ingestion.feeds.base import FeedProblem

OLDER = "an older run? Nothing of it was taken: ask again after the model's next run"
_ONE_DAY = np.timedelta64(1, "D")

FirstDay = Callable[[str], Day]
"""Returns the first day to take, or to expect, in a time zone."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The days that were asked for.

    `until` is the end of the run's data where the service states it. None: all days but the last, which the run may not
    have whole, are expected to have values.
    """

    first: FirstDay
    count: int
    until: datetime | None


def whole_days(of: Place, since: FirstDay | None = None) -> Days:
    """Return the days from the first to the last with every variable of every member, from a first day on.

    Models end early, and may lack days of the past.
    """
    return _range(of, _known(of.members.values(), of, since))


@dataclass(frozen=True, slots=True)
class Extents:
    """The whole days of the places of an answer.

    `begin` and `end` are the earliest begin and the latest end; None without any place. `head` and `tail` are the
    smallest number of listed days before and after them, `listed` the largest number of listed days.
    """

    begin: datetime | None
    end: datetime | None
    head: int
    tail: int
    listed: int
    since: FirstDay | None

    @classmethod
    def of(cls, places: Iterable[Place], since: FirstDay | None = None) -> "Extents":
        """Return the extents of places."""
        spans = [(place, days) for place in places for days in _by_member(place, since).values() if len(days)]
        return cls(
            min((begin_of(days[0], place.time_zone) for place, days in spans), default=None),
            max((begin_of(days[-1] + _ONE_DAY, place.time_zone) for place, days in spans), default=None),
            min((days_between(place.days[0], days[0]) for place, days in spans), default=0),
            min((days_between(days[-1], place.days[-1]) for place, days in spans), default=0),
            max((len(place.days) for place, _ in spans), default=0),
            since,
        )

    def require(self, model: str, basin: str, of: Place, expected: Expected | None = None) -> None:
        """Require that every member of a place has the days of the other places, and those that were asked for."""
        by_member, what = _by_member(of, self.since), f"{model} of {basin}: its days"
        if len({(*days[:1], *days[-1:]) for days in by_member.values()}) > 1:
            raise FeedProblem(f"{model} of {basin}: its members have different days: some of {OLDER}.")
        days = next(iter(by_member.values()))
        if self.begin is None or self.end is None or not len(days):
            return
        inside = [at for at in of.days if self.begin <= begin_of(at, of.time_zone)]
        inside = [at for at in inside if begin_of(at + _ONE_DAY, of.time_zone) <= self.end] or [*days]
        if days[0] > inside[0]:
            later = days_between(of.days[0], days[0]) - self.head
            raise FeedProblem(f"{what} begin {later} later than the others': {OLDER}.")
        unlisted = self.listed - len(of.days)
        if days[-1] < inside[-1] or unlisted:
            earlier = days_between(days[-1], of.days[-1]) - self.tail + unlisted
            raise FeedProblem(f"{what} end {earlier} earlier than the others': {OLDER}.")
        if expected is None:
            return
        first = expected.first(of.time_zone)
        if of.days[0] not in (first, first + _ONE_DAY):  # midnight may have passed since
            raise FeedProblem(f"{what} begin on {of.days[0]}, where those from {first} on were asked for: {OLDER}.")
        last = first + np.timedelta64(expected.count - 1, "D")
        last = last - _ONE_DAY if expected.until is None else min(last, last_ended_day(expected.until, of.time_zone))
        if (earlier := days_between(days[-1], last)) > 0:
            raise FeedProblem(
                f"{what} end {earlier} earlier than {last}, to which they were asked for: {OLDER}, or for fewer days "
                "(days_ahead) if the model does not have them."
            )


def _by_member(of: Place, since: FirstDay | None) -> dict[str, Days]:
    return {label: _range(of, _known([values], of, since)) for label, values in of.members.items()}


def _known(
    members: Iterable[Mapping[str, npt.NDArray[np.float64]]], of: Place, since: FirstDay | None
) -> npt.NDArray[np.bool_]:
    known: npt.NDArray[np.bool_] = np.all([~np.isnan(array) for values in members for array in values.values()], axis=0)
    return known if since is None else known & (of.days >= since(of.time_zone))


def _range(of: Place, known: npt.NDArray[np.bool_]) -> Days:
    (places,) = np.nonzero(known)
    return of.days[places[0] : places[-1] + 1] if len(places) else of.days[:0]
