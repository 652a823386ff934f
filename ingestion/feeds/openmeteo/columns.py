"""Columns of an answer of Open-Meteo: the values of a variable, by member of the model."""

import re
from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
import numpy.typing as npt

from ingestion.feeds.base import FeedProblem
from ingestion.json_numbers import NotANumber

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


def members_of(variable: str, columns: Mapping[str, object], model: str) -> list[tuple[str, str]]:
    """Return the names of a variable's columns with their members' labels. The bare name is the control."""
    pattern = re.compile(rf"{variable}(?:_member(\d\d))?(?:_{re.escape(model)})?")
    matches = [(name, pattern.fullmatch(name)) for name in columns]
    return [(name, f"member{match[1]}" if match[1] else CONTROL) for name, match in matches if match]


def numbers(what: str, times: npt.NDArray[np.datetime64], values: Sequence[object]) -> Array:
    """Return the values of days or hours, NaN where null.

    Raises:
        FeedProblem: there is not one for each, or one is NaN or infinite.
        TypeError: one is neither a number nor null; numpy would read some texts as numbers.
    """
    if len(values) != len(times):
        unit = "a day" if times.dtype == "datetime64[D]" else "an hour"
        raise FeedProblem(f"{what} has not a value {unit}: nothing of it was taken.")
    for at, value in enumerate(values):
        if isinstance(value, NotANumber) or (isinstance(value, float) and not isfinite(value)):
            raise FeedProblem(f"{what} on {times[at]} is not a number ({value}): nothing of the place was taken.")
        if value is not None and type(value) not in (int, float):
            raise TypeError(what)
    return np.array(values, dtype=np.float64)
