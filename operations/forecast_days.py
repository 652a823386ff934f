"""The days of a forecast run: its T0, the days ahead, and whether a basin's record holds them."""

from dataclasses import dataclass

import numpy as np

from hydrology.calendar import Day, Period, day
from hydrology.errors import InvalidInput
from operations.advance import ONE_DAY
from operations.dataset import BasinForcing
from records.clock import Clock


@dataclass(frozen=True, slots=True)
class RunDays:
    """T0, the last day that the states consume, and how many days a run looks ahead of it."""

    t0: Day
    horizon: int

    @property
    def ahead(self) -> Period:
        """The days after T0."""
        return Period(self.t0 + ONE_DAY, self.t0 + np.timedelta64(self.horizon, "D"))


def choose_days(clock: Clock, t0: Day | None, horizon: int, record_end: Day) -> RunDays:
    """Return the days of a run: from the T0 asked for, or from the last one that clock and record allow.

    Args:
        record_end: the last day with forcing in any of the basins.

    Raises:
        InvalidInput: the T0 asked for has not ended at the clock's time.
    """
    yesterday = day(clock.now().date()) - ONE_DAY
    if t0 is None:
        return RunDays(min(yesterday, record_end - np.timedelta64(horizon, "D")), horizon)
    if t0 > yesterday:
        raise InvalidInput(
            f"T0 {t0} has not ended at {clock.now():%Y-%m-%d %H:%M} UTC, the time of the clock: choose {yesterday} or "
            "an earlier day."
        )
    return RunDays(t0, horizon)


def why_not_covered(basin: str, forcing: BasinForcing, product: str, days: RunDays) -> str | None:
    """Return why a basin's forcing does not serve the days of a run, or None where it does."""
    record, t0, ahead = forcing.period, days.t0, days.ahead
    if not record.first <= t0 <= record.last:
        reason = f"{basin}: T0 {t0} is outside the {product} record {record}."
    elif ahead.last > record.last:
        reason = (
            f"{basin}: {days.horizon} days after T0 {t0} need forcing until {ahead.last}, and the record ends on "
            f"{record.last}: shorten the horizon or choose an earlier T0."
        )
    elif (gap := forcing.first_gap(ahead)) is not None:
        reason = f"{basin}: the forcing of {gap}, one of the {days.horizon} days after T0 {t0}, is missing."
    else:
        return None
    return f"{reason} {forcing.stop}" if forcing.stop else reason
