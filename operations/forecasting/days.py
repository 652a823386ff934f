"""The days of a forecast run, and whether a basin's record holds its T0."""

from dataclasses import dataclass

import numpy as np

from hydrology.base.absent import Absent, absent
from hydrology.base.calendar import Day, Period
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from operations.basin_data.dataset import BasinForcing
from operations.states.advance_states import ONE_DAY
from runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class RunDays:
    """The days of a run: T0, the last that the states consume, and the days after it.

    `filled` of these have ended, without weather that is observed as a whole.
    """

    t0: Day
    horizon: int
    filled: int = 0

    @property
    def ahead(self) -> Period:
        """The days after T0."""
        return Period(self.t0 + ONE_DAY, self.t0 + np.timedelta64(self.horizon, "D"))

    @property
    def last_past(self) -> Day:
        """The last day that has ended."""
        return self.t0 + np.timedelta64(self.filled, "D")

    @property
    def to_come(self) -> "RunDays":
        """The days after those that have ended."""
        return RunDays(self.last_past, self.horizon - self.filled)


def choose_days(clock: Clock, t0: Day | None, horizon: int, last_t0: Day, last_ended: Day) -> RunDays:
    """Return a run's days from the requested or the last possible T0."""
    if t0 is None:
        return RunDays(min(last_ended, last_t0), horizon)
    if t0 > last_ended:
        raise InvalidInput(
            f"T0 {t0} has not ended at {clock.now():%Y-%m-%d %H:%M} UTC, the time of the clock: choose {last_ended} or "
            "an earlier day."
        )
    return RunDays(t0, horizon)


def why_t0_unavailable(basin: str, forcing: BasinForcing, product: str, t0: Day, last_ended: Day) -> Absent | None:
    """Return why T0 is unavailable. Outside the record, or not ended at the basin; None where available."""
    if t0 > last_ended:
        return absent(Reason.T0_NOT_ENDED, basin=basin, t0=str(t0), last=str(last_ended))
    record = forcing.period
    if record.first <= t0 <= record.last:
        return None
    outside = absent(Reason.T0_OUTSIDE_RECORD, basin=basin, t0=str(t0), product=product, record=str(record))
    return with_stop(forcing, outside)


def with_stop(forcing: BasinForcing, reason: Absent) -> Absent:
    """Append to a reason why the record ends where it does."""
    return absent(Reason.RECORD_STOPS, why=reason, stop=forcing.stop) if forcing.stop else reason
