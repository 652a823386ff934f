"""Checks precipitation alone: accumulating totals, and amounts too small for a river."""

from collections.abc import Iterator

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.errors import counted
from hydrology.base.findings import Finding
from hydrology.weather.checks.climate import expected_precipitation
from hydrology.weather.checks.daily_weather import DailyWeather, Rule

RISES_REFUSED, FALLS_PER_RISE = 12, 0.05  # CAMELS: at most 11 rises without a fall, at least 0.25 falls a rise
RISES_WITH_PLATEAUS, PLATEAUS_REFUSED, PLATEAU_MM = 4, 2, 0.5
RISES_WARNED, PLATEAUS_WARNED = 2, 1
TRACES_SHARE, TRACES_REFUSED = 0.5, 10
RIVERLESS_MM, RIVERLESS_DAYS, RIVERLESS_WET_DAYS = 0.5, 365, 30  # CAMELS: every year has a day of 8 mm
DRIZZLE_MM, DRIZZLE_DAYS, DRIZZLE_WET_DAYS, DRIZZLE_EXPECTED_MM = 0.05, 2, 3, 1.0


def _accumulated(weather: DailyWeather) -> Iterator[Finding]:
    if (one := weather.of("precipitation")) is None:
        return
    wet = [trace for trace in one[0] if np.nanmax(trace, initial=0) > 0]
    if not wet:
        return
    # Traces of one forecast rise in the same storm, so each of them must look accumulated.
    counts = np.array([_steps(trace) for trace in wet])
    rises, falls, plateaus = counts.T
    long = (rises >= RISES_REFUSED) & (falls <= FALLS_PER_RISE * rises)
    flat = (rises >= RISES_WITH_PLATEAUS) & (plateaus >= PLATEAUS_REFUSED) & (falls == 0)
    odd = (rises >= RISES_WARNED) & (plateaus >= PLATEAUS_WARNED) & (falls == 0)
    # Real amounts hardly ever repeat; where half of the traces do and none falls, the others are accumulated too.
    together = not falls.any() and odd.mean() >= TRACES_SHARE
    if not ((long | flat | odd).all() or together):
        return
    refused = (long | flat).all() or (together and len(wet) >= TRACES_REFUSED)
    verb = "never falls" if falls.max() == 0 else "hardly ever falls"
    advice = ": it looks accumulated. " + ("Give the amount of each day" if refused else "If so, give that of each day")
    sentence = f"rises on {counted(int(rises.max()), 'day')} and {verb}{advice}"
    bad = np.nan_to_num(one[0]) > 0
    yield weather.finding("accumulated", "error" if refused else "warning", "precipitation", bad, sentence)


def _steps(trace: Array) -> tuple[int, int, int]:
    """Return the numbers of rises, falls, and days that repeat an amount above drizzle."""
    known = trace[~np.isnan(trace)]
    step = np.diff(known)
    return int((step > 0).sum()), int((step < 0).sum()), int(((step == 0) & (known[1:] > PLATEAU_MM)).sum())


def _too_small(weather: DailyWeather) -> Iterator[Finding]:
    if (one := weather.of("precipitation")) is None:
        return
    amount = one[0]
    wet, days, highest = np.nan_to_num(amount) > 0, int((~np.isnan(amount)).any(axis=0).sum()), float(np.nanmax(amount))
    never = f"is never above {highest:.2g} mm/day in {days} days"
    if days >= RIVERLESS_DAYS and highest < RIVERLESS_MM and wet.sum() >= RIVERLESS_WET_DAYS:
        advice = ", too little for a river: these look like m/day or kg/m2/s. Convert them to mm/day"
        yield weather.finding("too-little", "error", "precipitation", wet, never + advice)
        return
    expected = expected_precipitation(weather)
    odd = wet.any() if expected is None else wet.sum() >= DRIZZLE_WET_DAYS and expected >= DRIZZLE_EXPECTED_MM
    if odd and days >= DRIZZLE_DAYS and highest < DRIZZLE_MM:
        advice = ", though not always 0: if these are m/day, convert them to mm/day"
        yield weather.finding("too-little", "warning", "precipitation", wet, never + advice)


RULES = (
    Rule(
        "accumulated",
        _accumulated,
        f"precipitation that rises on {RISES_REFUSED} days or more with at most {FALLS_PER_RISE:g} falls a rise; or on "
        f"{RISES_WITH_PLATEAUS} days without a fall and {PLATEAUS_REFUSED} times repeats more than {PLATEAU_MM:g} mm. "
        f"Of a forecast, in each trace that is not dry, or, of {TRACES_REFUSED} such traces or more, the lesser "
        f"sign of the next column in {TRACES_SHARE:.0%} of them and no fall in any",
        f"rises on {RISES_WARNED} days without a fall and repeats more than {PLATEAU_MM:g} mm; of a forecast, in "
        f"{TRACES_SHARE:.0%} of the traces that are not dry, with no fall in any",
    ),
    Rule(
        "too-little",
        _too_small,
        f"in {RIVERLESS_DAYS} days or more, precipitation on {RIVERLESS_WET_DAYS} days and never {RIVERLESS_MM:g} mm",
        f"in {DRIZZLE_DAYS} days or more, precipitation that is not always 0 and never {DRIZZLE_MM:g} mm, where the "
        f"climate is not known, or expects {DRIZZLE_EXPECTED_MM:g} mm and {DRIZZLE_WET_DAYS} days are above 0",
    ),
)
