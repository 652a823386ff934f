"""Checks weather against the basin's climate in the same calendar months."""

from collections.abc import Iterator

import numpy as np

from hydrology.base.calendar import month
from hydrology.base.errors import counted
from hydrology.base.findings import Finding
from hydrology.weather.checks.daily_weather import DailyWeather, Rule
from hydrology.weather.checks.relations import VP_RATIO_WARNED, vapour_ratio

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
    advice = "" if unit is None else f": these look like {unit}. Convert them to mm/day"
    sentence = (
        f"sums to {fallen:.3g} mm in {counted(days, 'day')} where {weather.climate.source} expects "
        f"{expected:.0f} mm{advice}"
    )
    yield weather.finding("precipitation-climate", "error" if unit else "warning", "precipitation", wet, sentence)


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
    advice = ": these look like °F. Convert them to °C" if refused else ""
    sentence = (
        f"and tmin are {abs(anomaly):.0f} K {'above' if anomaly > 0 else 'below'} what {weather.climate.source} has in "
        f"these months, in the median of {days} days{advice}"
    )
    yield weather.finding("temperature-climate", "error" if refused else "warning", "tmax", used, sentence)


RULES = (
    Rule(
        "precipitation-climate",
        _precipitation,
        f"where the climate expects {EXPECTED_MM:g} mm: in {EXPECTED_DAYS} days or more, less than {DEFICIT:g} times "
        f"that; in {YEAR_DAYS} days or more, below {YEAR_REFUSED[0]:g} or above {YEAR_REFUSED[1]:g} times, if inches, "
        f"mm/h or tenths of mm give {EXPLAINED[0]:g} to {EXPLAINED[1]:g} times",
        f"in {YEAR_DAYS} days or more, below {YEAR_WARNED[0]:g} or above {YEAR_WARNED[1]:g} times",
    ),
    Rule(
        "temperature-climate",
        _temperature,
        "the median of (tmax + tmin) / 2 is above the climate by more than "
        + ", ".join(f"{kelvin:g} K ({counted(days, 'day')} or more)" for days, kelvin in ANOMALY_REFUSED)
        + f", and °F would explain it; in {DRY_DAYS} days or more, by more than {DRY_ANOMALY:g} K where vapour "
        f"pressure is below {VP_RATIO_WARNED[0]:g} times the saturation and °F would explain more than half of it",
        f"above or below it by {WARNED_SHARE:.0%} of that",
    ),
)
