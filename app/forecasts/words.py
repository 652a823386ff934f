"""A forecast in words, made of its own numbers by fixed rules."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from math import floor, log10

from app.discharge import Units
from app.forecasts.schemas import Calibration, Columns, Storage
from hydrology.weather import IMAGINED, ForcingKind

UNITS: Mapping[Units, str] = {"m3/s": "m³/s", "mm/day": "mm/day", "cfs": "ft³/s"}
_WEATHER: Mapping[ForcingKind, str] = {
    "observed": "with the weather that came (a hindcast)",
    "supplied": "with a weather forecast",
    "climatology": "with the weather of other years",
    "dry": "if no more rain or snow fell",
}
LIKELY = ("p10", "p90")
"""The quantiles that "likely" stands for: four chances in five."""
LEAST_SNOW_MM = 1.0
"""Of less than this that reads as snow where there is none nothing is said."""
DIGITS = 3


def in_words(
    days: Sequence[date],
    discharge: Columns,
    calibrated: Columns | None,
    calibration: Calibration | None,
    storage: Storage | None,
    weather: ForcingKind,
    units: Units,
    what_if: str | None = None,
) -> str:
    """Return a forecast in a few sentences.

    Args:
        discharge: the members' quantiles; used where there are no calibrated ones.
        what_if: what a what-if run changes; None for a forecast.
    """
    sentences = _sentences(days, discharge, calibrated, calibration, storage, weather, units)
    return " ".join([*([] if what_if is None else [f"No forecast, but what if: {what_if}."]), *sentences])


def _sentences(
    days: Sequence[date],
    discharge: Columns,
    calibrated: Columns | None,
    calibration: Calibration | None,
    storage: Storage | None,
    weather: ForcingKind,
    units: Units,
) -> Iterator[str]:
    unit = UNITS[units]
    if calibration is not None and calibration.last_observed is not None and calibration.last_observed_day is not None:
        yield f"{number(calibration.last_observed)} {unit} was observed on {on(calibration.last_observed_day)}."
    median = (calibrated or discharge)["median"]
    comes = "would flow" if weather in IMAGINED else "is expected"
    first = f"{number(median[0])} {unit} {comes} on {on(days[0])}"
    if len(days) > 1:
        highest = max(range(len(days)), key=median.__getitem__)
        first += f" and {number(median[-1])} on {on(days[-1])}, {_WEATHER[weather]}"
        if 0 < highest < len(days) - 1:
            first += f"; the highest is {number(median[highest])} on {on(days[highest])}"
    else:
        first += f", {_WEATHER[weather]}"
    yield first + "."
    if calibrated is None:
        yield "How sure that is, is not known."
    else:
        yield _likely(days, calibrated, unit)
    if storage is not None:
        yield from _held(storage)


def _likely(days: Sequence[date], calibrated: Columns, unit: str) -> str:
    low, high = (calibrated[name] for name in LIKELY)
    sentence = f"Likely, with four chances in five, it is between {number(low[0])} and {number(high[0])} {unit}"
    if len(days) == 1:
        return sentence + "."
    return f"{sentence} on {on(days[0])}, and between {number(low[-1])} and {number(high[-1])} on {on(days[-1])}."


def _held(storage: Storage) -> Iterator[str]:
    sentence = f"The basin holds {number(storage.total[0])} mm of water"
    if storage.snow is not None:
        sentence += f", of which {number(storage.snow[0])} mm reads as snow"
    read = storage.snow_read
    if read is not None:
        sentence += f" (5 to 95 % of the members: {number(read.p05[0])} to {number(read.p95[0])} mm)"
    yield sentence + "."
    if read is not None and read.mapping == "regional":
        yield "It is read by cells chosen over other basins, for no reference snow is kept of this one."
    if read is not None and read.skill is not None and (read.skill.where_none_mm or 0) >= LEAST_SNOW_MM:
        yield f"Where there was no snow, such cells held {number(read.skill.where_none_mm or 0)} mm in the mean."


def on(day: date) -> str:
    """Return a day as people say it: 4 March."""
    return f"{day.day} {day:%B}"


def number(value: float) -> str:
    """Return a number with three digits, or as many as stand before its point: 0.0123, 4.57, 12300."""
    if value == 0:
        return "0"
    digits = DIGITS - 1 - floor(log10(abs(value)))
    rounded = round(value, digits)
    return f"{rounded:.{max(digits, 0)}f}"
