"""Values of an answer of Open-Meteo by member of the model, and its hours added up to days where needed."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from math import isfinite
from types import NoneType
from typing import Any

import numpy as np
import numpy.typing as npt

from ingestion.feeds.base import FeedProblem
from ingestion.feeds.http import NotANumber

Array = npt.NDArray[np.float64]

UNITS = {
    "precipitation_sum": "mm",
    "temperature_2m_max": "°C",
    "temperature_2m_min": "°C",
    "shortwave_radiation_sum": "MJ/m²",
    "dew_point_2m_mean": "°C",
}
"""The daily variables to request, and their expected units."""
CONTROL = "control"


@lru_cache(maxsize=64)
def members_of(variable: str, columns: tuple[str, ...], model: str) -> list[tuple[str, str]]:
    """Return the names of a variable's columns with their members' labels. The bare name is the control."""
    pattern = re.compile(rf"{variable}(?:_member(\d\d))?(?:_{re.escape(model)})?")
    matches = [(name, pattern.fullmatch(name)) for name in columns]
    return [(name, f"member{match[1]}" if match[1] else CONTROL) for name, match in matches if match]


def numbers(what: str, times: npt.NDArray[np.datetime64], values: Sequence[object]) -> Array:
    """Return the values of days or hours, NaN where null.

    FeedProblem: there is not one for each, or one is NaN or infinite. TypeError: one is a text; numpy would read some
    texts as numbers.
    """
    if len(values) != len(times):
        unit = "a day" if times.dtype == "datetime64[D]" else "an hour"
        raise FeedProblem(f"{what} has not a value {unit}: nothing of it was taken.")
    if not _are_plain(values):
        for at, value in enumerate(values):
            if isinstance(value, NotANumber) or (isinstance(value, float) and not isfinite(value)):
                raise FeedProblem(f"{what} on {times[at]} is not a number ({value}): nothing of the place was taken.")
        raise TypeError(what)
    return np.array(values, dtype=np.float64)


def _are_plain(values: Sequence[Any]) -> bool:
    """Return whether values are finite numbers or null."""
    return {*map(type, values)} <= {int, float, NoneType} and all(map(isfinite, filter(None, values)))


_MJ_PER_HOUR = 0.0036  # of one W/m2

_OF_HOURS: Mapping[str, tuple[str, str, Callable[[Array], Any]]] = {
    "precipitation_sum": ("precipitation", "mm", lambda hours: hours.sum(axis=1)),
    "temperature_2m_max": ("temperature_2m", "°C", lambda hours: hours.max(axis=1)),
    "temperature_2m_min": ("temperature_2m", "°C", lambda hours: hours.min(axis=1)),
    "shortwave_radiation_sum": ("shortwave_radiation", "W/m²", lambda hours: hours.sum(axis=1) * _MJ_PER_HOUR),
    "dew_point_2m_mean": ("dew_point_2m", "°C", lambda hours: hours.mean(axis=1)),
}
"""By daily variable: the hourly one, its unit, and how the hours (days, 24) become days."""
HOURLY = tuple(dict.fromkeys(source for source, _, _ in _OF_HOURS.values()))


def in_days(basin: str, place: Mapping[str, Any], model: str) -> dict[str, Any]:
    """Return the answer about a place as the service gives days: a day that lacks an hour is null."""
    hourly, units = place["hourly"], place["hourly_units"]
    stamps = np.array([datetime.fromisoformat(text) for text in hourly["time"]], dtype="datetime64[h]")
    if not len(stamps) or (np.diff(stamps) != np.timedelta64(1, "h")).any():
        raise FeedProblem(f"The hours of {basin} do not follow each other: nothing of it was taken.")
    days = np.unique(stamps.astype("datetime64[D]"))
    at = (stamps - days[0].astype("datetime64[h]")).astype(np.int64)
    daily: dict[str, Any] = {"time": [str(day) for day in days]}
    shown: dict[str, str] = {}
    for variable, (source, unit, added_up) in _OF_HOURS.items():
        for name, _ in members_of(source, tuple(hourly), model):
            if units.get(name) != unit:
                raise FeedProblem(f"{source} of {basin} is not in {unit}: nothing of it was taken.")
            hours = np.full(len(days) * 24, np.nan)
            hours[at] = numbers(f"{source} of {basin}", stamps, hourly[name])
            of_days = name.replace(source, variable, 1)
            values = added_up(hours.reshape(-1, 24))
            daily[of_days] = [None if np.isnan(value) else float(value) for value in values]
            shown[of_days] = UNITS[variable]
    return {"daily": daily, "daily_units": shown}
