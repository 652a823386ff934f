"""Checks relations between the variables of a day, and with the sun."""

from collections.abc import Iterator

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.errors import Finding, counted
from hydrology.base.units import J_PER_MJ
from hydrology.weather.climate import daylength, extraterrestrial_radiation, saturation_vapour_pressure
from hydrology.weather.daily_weather import Check, DailyWeather

CROSSED_DAYS = 2
MEAN_TOLERANCE = 1.0  # K
VP_RATIO_REFUSED, VP_RATIO_WARNED = (0.03, 5.0), (0.2, 2.0)  # of saturation at tmin; CAMELS: 0.26 to 1.6 in 5 days
VP_COLDEST = -30.0  # degC: below it the saturation over water and over ice differ, and products disagree
VP_ALONE, VP_ALONE_WARNED_DAYS, VP_ALONE_REFUSED_DAYS = 45.0, 30, 365  # Pa; in hPa no air has more
HOTTEST_TMAX, HOTTEST_TMIN, HOT_SHARE = 57.0, 45.0, 0.02  # degC: no station has measured more
SRAD_HIGH_REFUSED, SRAD_HIGH_WARNED = 1.2, 1.0  # of radiation above the air; CAMELS: at most 1.12
SRAD_LOW_REFUSED, SRAD_LOW_WARNED, SRAD_LOW_DAYS = 0.05, 0.1, 10  # CAMELS: at least 0.058 in 10 days
SRAD_CLEAR = (0.15, 1.1)  # of radiation above the air: what MJ/m2 a day must give to explain a low value
SRAD_HIGHEST = 900.0  # W/m2: above the air, mean over daylight, anywhere
SHORTEST_DAYLIGHT = 2 * 3600  # s: shorter days are left out
DAYLENGTH_REFUSED, DAYLENGTH_WARNED = 2.0, 1.1  # factor, either way
IN_FAHRENHEIT = ": these look like °F. Convert them to °C"


def _crossed(weather: DailyWeather) -> Iterator[Finding]:
    if (pair := weather.of("tmin", "tmax")) is None:
        return
    low, high = pair
    bad, known = low > high, ~np.isnan(low)
    if bad.any():
        most = bad.sum() * 2 > known.sum() and known.any(axis=0).sum() >= CROSSED_DAYS
        remedy = ": the two look swapped. Exchange them" if most else None
        sentence = f"is above tmax on {bad.sum()} of {counted(int(known.sum()), 'day')}"
        yield weather.finding("tmin-above-tmax", "tmin", bad, sentence, remedy)
    if known.sum() > 1 and (low[known] == high[known]).all():
        sentence = "equals tmax on every day: both are the daily mean, not usable as daily minimum and maximum"
        yield weather.finding("tmax-equals-tmin", "tmin", known, sentence)


def _mean_outside(weather: DailyWeather) -> Iterator[Finding]:
    if (three := weather.of("tmean", "tmin", "tmax")) is None:
        return
    mean, low, high = three
    bad, known = (mean < low - MEAN_TOLERANCE) | (mean > high + MEAN_TOLERANCE), ~np.isnan(mean)
    if bad.sum() * 2 > known.sum():
        sentence = f"is not between tmin and tmax on {bad.sum()} of {counted(int(known.sum()), 'day')}"
        yield weather.finding("tmean-outside", "tmean", bad, sentence)


def _vapour_pressure(weather: DailyWeather) -> Iterator[Finding]:
    base = temperature_beside(weather)
    if (pair := _vapour_pair(weather)) is None:
        yield from _vapour_pressure_alone(weather)
        return
    vp, temperature = pair
    if (ratio := vapour_ratio(weather)) is None:
        return
    used = temperature >= VP_COLDEST
    median, usual = np.median(vp[used]), np.median(saturation_vapour_pressure(temperature[used]))
    (low, high), (odd_low, odd_high) = VP_RATIO_REFUSED, VP_RATIO_WARNED
    if odd_low <= ratio <= odd_high:
        return
    units = {"kPa": 1000, "hPa": 100, "tenths of Pa": 0.1}
    unit = min(units, key=lambda name: abs(np.log(max(ratio, 1e-9) * units[name])))
    remedy = None
    if not low <= ratio <= high:
        explains = odd_low / 2 <= ratio * units[unit] <= odd_high * 2
        remedy = f": these look like {unit}. Convert them to Pa" if explains else ": convert it to Pa"
    sentence = f"has a median of {median:.3g} Pa where saturated air at {base} has about {usual:.3g} Pa"
    yield weather.finding("vapour-pressure", "vp", used, sentence, remedy)


def temperature_beside(weather: DailyWeather) -> str:
    """Return the name of the temperature that vapour pressure is compared with."""
    return "tmin" if "tmin" in weather.values else "tmean"


def _vapour_pair(weather: DailyWeather) -> list[Array] | None:
    """Return vapour pressure and the coldest temperature beside it; None where no day has both."""
    if (pair := weather.of("vp", temperature_beside(weather))) is None or "tmax" not in weather.values:
        return pair
    highest = np.atleast_2d(np.asarray(weather.values["tmax"], np.float64))
    return [pair[0], np.where(np.isnan(pair[1]), np.nan, np.fmin(pair[1], highest))]  # the two may be swapped


def vapour_ratio(weather: DailyWeather) -> float | None:
    """Return the median of vapour pressure by saturation at tmin (else tmean); None where no day has both."""
    if (pair := _vapour_pair(weather)) is None:
        return None
    vp, temperature = pair
    used = temperature >= VP_COLDEST
    return float(np.median(vp[used] / saturation_vapour_pressure(temperature[used]))) if used.any() else None


def _vapour_pressure_alone(weather: DailyWeather) -> Iterator[Finding]:
    if (one := weather.of("vp")) is None:
        return
    known = ~np.isnan(one[0])
    days = int(known.any(axis=0).sum())
    if days >= VP_ALONE_WARNED_DAYS and one[0][known].max() < VP_ALONE:
        sentence = f"is at most {one[0][known].max():.3g} Pa in {counted(days, 'day')}"
        look = ": these look like hPa or kPa. Convert to Pa"
        if days >= VP_ALONE_REFUSED_DAYS:
            yield weather.finding("vapour-pressure", "vp", known, sentence, look)
        else:
            yield weather.finding("vapour-pressure", "vp", known, sentence + look)


def _too_hot(weather: DailyWeather) -> Iterator[Finding]:
    for name, limit in (("tmax", HOTTEST_TMAX), ("tmin", HOTTEST_TMIN), ("tmean", HOTTEST_TMIN)):
        if (one := weather.of(name)) is None:
            continue
        bad, known = one[0] > limit, ~np.isnan(one[0])
        if bad.any():
            refused = bad.sum() > HOT_SHARE * known.sum()
            sentence = f"is above {limit:g} degC, more than was ever measured, on {counted(int(bad.sum()), 'day')}"
            yield weather.finding("too-hot", name, bad, sentence, IN_FAHRENHEIT if refused else None)


def _radiation(weather: DailyWeather) -> Iterator[Finding]:
    if (one := weather.of("srad")) is None:
        return
    srad = one[0]
    if weather.latitude is None:
        if (median := np.nanmedian(srad)) > SRAD_HIGHEST:
            sentence = f"has a median of {median:.4g} W/m2, more than there is above the air"
            yield weather.finding("radiation", "srad", ~np.isnan(srad), sentence, ": convert it to W/m2")
        return
    light = daylength(weather.days, weather.latitude)[:, 0]
    above = extraterrestrial_radiation(weather.days, weather.latitude)[:, 0] * J_PER_MJ / np.maximum(light, 1)
    used = ~np.isnan(srad) & (light >= SHORTEST_DAYLIGHT)
    if not used.any():
        return
    ratio = float(np.median((srad / above)[used]))
    there = f"has a median of {np.median(srad[used]):.3g} W/m2, {ratio:.2g} of the radiation above the air"
    if ratio > SRAD_HIGH_WARNED:
        remedy = ": give the mean over daylight in W/m2" if ratio > SRAD_HIGH_REFUSED else None
        yield weather.finding("radiation", "srad", used, there, remedy)
    elif ratio < SRAD_LOW_WARNED and used.any(axis=0).sum() >= SRAD_LOW_DAYS:
        as_sums = float(np.median((srad * J_PER_MJ / np.maximum(light, 1) / above)[used]))
        refused = ratio < SRAD_LOW_REFUSED and SRAD_CLEAR[0] <= as_sums <= SRAD_CLEAR[1]
        remedy = ": these look like MJ/m2 a day. Give the mean over daylight in W/m2" if refused else None
        yield weather.finding("radiation", "srad", used, there, remedy)


def _daylength(weather: DailyWeather) -> Iterator[Finding]:
    if weather.latitude is None or (one := weather.of("daylength")) is None:
        return
    light = daylength(weather.days, weather.latitude)[:, 0]
    used = ~np.isnan(one[0]) & (light >= SHORTEST_DAYLIGHT)
    if not used.any():
        return
    ratio = float(np.median((one[0] / np.maximum(light, 1))[used]))
    if not 1 / DAYLENGTH_WARNED <= ratio <= DAYLENGTH_WARNED:
        refused = not 1 / DAYLENGTH_REFUSED <= ratio <= DAYLENGTH_REFUSED
        sentence = f"has a median of {np.median(one[0][used]):.3g} s, {ratio:.2g} of that of its latitude"
        yield weather.finding("daylength", "daylength", used, sentence, ": give it in seconds" if refused else None)


RELATIONS: tuple[Check, ...] = (_crossed, _mean_outside, _vapour_pressure, _too_hot, _radiation, _daylength)
