"""Input and output time series, independent of their format, and the days of a run.

An interval is stamped at its end, so that 20 November has the stamp 21 November 00:00. Where days end at another hour,
a day has the date at its middle.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from extensions.fews.markup import AS_TEXT, Instant, seconds
from extensions.fews.run_file import RunFile
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import InvalidInput
from hydrology.base.products import WEATHER

ONE_DAY, HALF_A_DAY = np.timedelta64(86_400, "s"), np.timedelta64(43_200, "s")
_EPOCH = np.datetime64("1970-01-01", "s")

Instants = npt.NDArray[np.datetime64]


@dataclass(frozen=True, slots=True)
class Days:
    """The days of a run.

    Attributes:
        hours: offset of its calendar from UTC.
        t0: the last day that the state consumes; the day before the first where there is none.
        first_stamp: the end of the first day, UTC.
    """

    hours: float
    period: Period
    t0: Day
    first_stamp: Instant

    @classmethod
    def of(cls, run: RunFile, stamps: Iterable[Instants]) -> "Days":
        """Return the whole days of a run; the stamps of every series set the hour at which they end."""
        ends = {
            int(into) for of_series in stamps for into in np.unique((of_series - _EPOCH) % ONE_DAY).astype(np.int64)
        }
        if not ends:
            raise InvalidInput(
                f"The forcing has no events of {', '.join(WEATHER)}: name its parameters so, and {AS_TEXT}."
            )
        if len(ends) != 1:
            raise InvalidInput("The daily events of the forcing do not all end at one hour: give them the same time.")
        into = np.timedelta64(ends.pop(), "s")
        start, t0, end = (
            (at - _EPOCH - into) // ONE_DAY for at in (run.start + ONE_DAY - np.timedelta64(1, "s"), run.time0, run.end)
        )
        if not start <= t0 <= end or start == end:
            raise InvalidInput(
                "time0 is not between startDateTime and endDateTime, or no whole day is: correct the run's times."
            )
        first_stamp = _EPOCH + into + (start + 1) * ONE_DAY
        first = named(np.array([first_stamp]), run.hours)[0]
        period = Period(first, first + np.timedelta64(int(end - start) - 1, "D"))
        return cls(run.hours, period, first + np.timedelta64(int(t0 - start) - 1, "D"), first_stamp)

    @property
    def history(self) -> int:
        """Number of days until T0."""
        return int((self.t0 - self.period.first).astype(int)) + 1

    @property
    def stamps(self) -> Instants:
        """The end of each day, UTC."""
        return self.first_stamp + np.arange(len(self.period)) * ONE_DAY

    @property
    def t0_stamp(self) -> Instant:
        """The end of T0, UTC."""
        return self.first_stamp + (self.history - 1) * ONE_DAY

    def places(self, stamps: Instants) -> npt.NDArray[np.int64]:
        """Return the indices of stamps among the days. Below 0 or beyond the last where outside."""
        return (named(stamps, self.hours) - self.period.first).astype(np.int64)


def named(stamps: Instants, hours: float) -> npt.NDArray[np.datetime64]:
    """Return the date of the day that ends at each stamp."""
    return (stamps + seconds(hours) - HALF_A_DAY).astype("datetime64[D]")


Kind = Literal["accumulative", "mean", "instantaneous"]
MISSING, UNRELIABLE, DOUBTFUL = 9, 6, 3
"""Flags: 0 to 2 reliable, from 3 doubtful, from 6 unreliable, 9 missing."""


@dataclass(frozen=True, slots=True)
class ImportedSeries:
    """A series of the forcing.

    Attributes:
        member: the label of the ensemble member; None where it belongs to none.
        stamps: the end of each day, UTC.
        values: one per stamp, NaN where missing or unreliable.
        doubtful, unreliable: number of values with that flag.
        product: the weather product that it is of, which follows the parameter after a point; None: of any.
    """

    file: str
    location: str
    parameter: str
    kind: Kind
    units: str
    ensemble: str | None
    member: str | None
    stamps: Instants
    values: npt.NDArray[np.float64]
    doubtful: int = 0
    unreliable: int = 0
    product: str | None = None


@dataclass(frozen=True, slots=True)
class Location:
    """A location of the output."""

    id: str
    name: str | None
    latitude: float | None
    longitude: float | None


@dataclass(frozen=True, slots=True)
class OutputQuantity:
    """A quantity of the output: values (locations, members, days), NaN where missing."""

    parameter: str
    kind: Kind
    units: str
    long_name: str
    values: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a run.

    Attributes:
        time0: the `forecastDate`.
        members: their labels; (None,) without an ensemble.
    """

    days: Days
    time0: Instant
    ensemble: str | None
    members: Sequence[str | None]
    locations: Sequence[Location]
    quantities: Sequence[OutputQuantity]
