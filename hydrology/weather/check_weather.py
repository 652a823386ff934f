"""Checks daily weather by the climate of the basin and by precipitation alone, and runs all checks.

All input uses this one checker. An `error` is impossible in the stated unit, or far from the climate and explained by a
known mistake of units: the weather is refused. A `warning` is odd, and the weather is accepted. The bounds leave room
around every window of the extended Maurer and Daymet forcing of CAMELS; docs/look-up/data.md lists them.
"""

from collections.abc import Iterator

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.calendar import month
from hydrology.base.errors import Finding, counted
from hydrology.weather.check_relations import IN_FAHRENHEIT, RELATIONS, VP_RATIO_WARNED, vapour_ratio
from hydrology.weather.daily_weather import Check, DailyWeather

EXPECTED_MM, EXPECTED_DAYS, DEFICIT = 200.0, 30, 0.005  # CAMELS: at least 0.008 of the expected amount
YEAR_DAYS, YEAR_REFUSED, YEAR_WARNED = 365, (0.1, 5.0), (0.2, 4.0)  # CAMELS: 0.26 to 2.6 in a year
EXPLAINED = (0.4, 2.5)
ANOMALY_REFUSED = ((365, 10.0), (30, 20.0), (10, 28.0), (1, 40.0))  # days, K; CAMELS: 4.8, 16.2, 25.2, 36
WARNED_SHARE = 0.9
DRY_DAYS, DRY_ANOMALY = 5, 12.0  # K, of air that is too dry for its temperature


def expected_precipitation(weather: DailyWeather) -> float | None:
    """Return the climate's precipitation in mm on the days with data; None without a climate."""
    if weather.climate is None or (one := weather.of("precipitation")) is None:
        return None
    usual = weather.climate.precipitation[month(weather.days) - 1]
    expected = np.where(np.isnan(one[0]), 0, usual).sum(axis=1).mean()
    return None if np.isnan(expected) else float(expected)


def _precipitation(weather: DailyWeather) -> Iterator[Finding]:
    expected, one = expected_precipitation(weather), weather.of("precipitation")
    if not expected or one is None:
        return
    assert weather.climate is not None
    days, fallen = int((~np.isnan(one[0])).any(axis=0).sum()), float(np.nansum(one[0], axis=1).mean())
    ratio, wet = fallen / expected, np.nan_to_num(one[0]) > 0
    unit = None
    if expected >= EXPECTED_MM and days >= EXPECTED_DAYS and 0 < ratio < DEFICIT:
        unit = "m/day" if ratio > DEFICIT / 50 else "kg/m2/s"
    elif days >= YEAR_DAYS and expected >= EXPECTED_MM:
        if ratio < YEAR_REFUSED[0] and EXPLAINED[0] <= ratio * 25 <= EXPLAINED[1]:
            unit = "inches or mm/h"
        elif ratio > YEAR_REFUSED[1] and EXPLAINED[0] <= ratio / 10 <= EXPLAINED[1]:
            unit = "tenths of mm"
        elif YEAR_WARNED[0] <= ratio <= YEAR_WARNED[1]:
            return
    else:
        return
    remedy = None if unit is None else f": these look like {unit}. Convert them to mm/day"
    usual = f"{weather.climate.source} expects {expected:.0f} mm"
    sentence = f"sums to {fallen:.3g} mm in {counted(days, 'day')} where {usual}"
    yield weather.finding("precipitation-climate", "precipitation", wet, sentence, remedy)


def _temperature(weather: DailyWeather) -> Iterator[Finding]:
    if weather.climate is None or (pair := weather.of("tmax", "tmin")) is None:
        return
    mean, usual = (pair[0] + pair[1]) / 2, weather.climate.temperature[month(weather.days) - 1]
    used = ~np.isnan(mean - usual)
    days = int(used.any(axis=0).sum())
    if not days:
        return
    anomaly, celsius = (float(np.median((degrees - usual)[used])) for degrees in (mean, (mean - 32) / 1.8))
    limit = next(kelvin for minimum, kelvin in ANOMALY_REFUSED if days >= minimum)
    ratio = vapour_ratio(weather)
    dry = ratio is not None and ratio < VP_RATIO_WARNED[0] and days >= DRY_DAYS
    hot_and_dry = dry and anomaly > DRY_ANOMALY and abs(celsius) < anomaly / 2
    if abs(anomaly) <= WARNED_SHARE * limit and not hot_and_dry:
        return
    refused = hot_and_dry or (anomaly > limit and abs(celsius) <= limit)
    sentence = (
        f"and tmin are {abs(anomaly):.0f} K {'above' if anomaly > 0 else 'below'} what {weather.climate.source} has in "
        f"these months, in the median of {days} days"
    )
    yield weather.finding("temperature-climate", "tmax", used, sentence, IN_FAHRENHEIT if refused else None)


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
    sentence = f"rises on {counted(int(rises.max()), 'day')} and {verb}: it looks accumulated. "
    if not refused:
        sentence += "If so, give that of each day"
    remedy = "Give the amount of each day" if refused else None
    yield weather.finding("accumulated", "precipitation", np.nan_to_num(one[0]) > 0, sentence, remedy)


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
        remedy = ", too little for a river: these look like m/day or kg/m2/s. Convert them to mm/day"
        yield weather.finding("too-little", "precipitation", wet, never, remedy)
        return
    expected = expected_precipitation(weather)
    odd = wet.any() if expected is None else wet.sum() >= DRIZZLE_WET_DAYS and expected >= DRIZZLE_EXPECTED_MM
    if odd and days >= DRIZZLE_DAYS and highest < DRIZZLE_MM:
        advice = ", though not always 0: if these are m/day, convert them to mm/day"
        yield weather.finding("too-little", "precipitation", wet, never + advice)


CHECKS: tuple[Check, ...] = (*RELATIONS, _accumulated, _too_small, _precipitation, _temperature)


def weather_findings(weather: DailyWeather) -> list[Finding]:
    """Find the impossible (`error`) and the odd (`warning`) in daily weather."""
    return [finding for check in CHECKS for finding in check(weather)] if len(weather.days) else []
