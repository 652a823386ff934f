"""Describes a forecast in words, by fixed rules from its own numbers."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from app.basins.run_levels import AnsweredLevel
from app.forecasts.discharge import Calibration, PeakOfRun
from app.forecasts.header import Columns
from app.forecasts.stored_water import Storage
from hydrology.base import unit_systems
from hydrology.base.units import Units
from hydrology.weather.forcing_kinds import KINDS, ForcingKind

UNITS, number, depth = unit_systems.FLOW, unit_systems.number, unit_systems.depth
LIKELY = ("p10", "p90")
"""The quantiles of "likely": a chance of 80 %."""
MIN_SNOW_MM = 1.0
"""Minimum false snow worth a sentence, mm."""
RESTS_ON: Mapping[str, str] = {
    "provisional": "That range is provisional: no forecasts with this weather model have been compared with observed "
    "flow.",
    "backfilled": "That range rests mostly on reforecasts with past issues of the weather model.",
}
"""The sentence about what the range rests on, by `calibration.kind`."""


def in_words(
    *,
    t0: date,
    days: Sequence[date],
    discharge: Columns,
    calibrated: Columns | None,
    calibration: Calibration | None,
    storage: Storage | None,
    weather: ForcingKind,
    units: Units,
    peak: PeakOfRun | None = None,
    what_if: str | None = None,
) -> str:
    """Describe a forecast in a few sentences, by the members' quantiles if none are calibrated."""
    unit = UNITS[units]
    sentences = [] if what_if is None else [f"No forecast, but what if: {what_if}."]
    if calibration is not None and calibration.last_observed is not None and calibration.last_observed_day is not None:
        flow = f"{number(calibration.last_observed)} {unit}"
        simulated = calibration.last_simulated or 0.0
        sentences.append(
            f"{flow} was observed on {on(calibration.last_observed_day)}; {number(simulated)} was simulated."
        )
    sentences.append(_expected(days, (calibrated or discharge)["median"], peak, weather, unit))
    sentences.append("No uncertainty estimate yet." if calibrated is None else _likely(days, calibrated, unit))
    if calibration is not None and calibration.kind in RESTS_ON:
        sentences.append(RESTS_ON[calibration.kind])
    return " ".join([*sentences, *([] if storage is None else _held(storage, t0, days[0]))])


def _expected(
    days: Sequence[date], median: Sequence[float], peak: PeakOfRun | None, weather: ForcingKind, unit: str
) -> str:
    comes = "would flow" if KINDS[weather].hypothetical else "is expected"
    first = f"{number(median[0])} {unit} {comes} on {on(days[0])}"
    if len(days) == 1:
        return f"{first}, {KINDS[weather].in_words}."
    first += f" and {number(median[-1])} on {on(days[-1])}, {KINDS[weather].in_words}"
    if peak is not None:
        first += f"; the highest is {number(peak.median)} on {on(peak.day_median)}"
        first += f" (return period {peak.rare})" if peak.rare else ""
    return f"{first}."


def _likely(days: Sequence[date], calibrated: Columns, unit: str) -> str:
    low, high = (calibrated[name] for name in LIKELY)
    sentence = f"Likely, with four chances in five, it is between {number(low[0])} and {number(high[0])} {unit}"
    if len(days) == 1:
        return sentence + "."
    return f"{sentence} on {on(days[0])}, and between {number(low[-1])} and {number(high[-1])} on {on(days[-1])}."


def _held(storage: Storage, t0: date, first: date) -> Iterator[str]:
    """Describe the water at T0, or after the first day for older runs."""
    read = storage.snow_read
    if storage.at_t0 is not None and (storage.snow is None or read is not None):
        sentence = f"On {on(t0)} the basin held {depth(storage.at_t0)} of water"
        snow, spread = (None, None) if read is None else (read.at_t0.mean, (read.at_t0.p05, read.at_t0.p95))
    else:
        sentence = f"At the end of {on(first)} the basin holds {depth(storage.total[0])} of water"
        snow = None if storage.snow is None else storage.snow[0]
        spread = None if read is None else (read.p05[0], read.p95[0])
    if snow is not None:
        sentence += f", of which {depth(snow)} reads as snow"
    if spread is not None:
        sentence += f" (5 to 95 % of the members: {number(spread[0], unit='mm')} to {depth(spread[1])})"
    yield sentence + "."
    if read is not None and read.mapping == "regional":
        yield read.mapping_note
    if read is not None and read.skill is not None and (read.skill.bare_mm or 0) >= MIN_SNOW_MM:
        yield f"Where there was no snow, such cells held {depth(read.skill.bare_mm or 0)} in the mean."


def on(day: date) -> str:
    """Format a day as text: 4 March."""
    return f"{day.day} {day:%B}"


def level_in_words(level: AnsweredLevel, units: Units) -> str:
    """Format a known level with its name: gev-2 (85.0 m³/s)."""
    flow = f"{number(level.shown or 0.0)} {UNITS[units]}"
    return flow if level.name is None else f"{level.name} ({flow})"


def signed(value: float) -> str:
    """Format a change with its sign: +12.3, -0.5, 0."""
    return f"{'+' if value > 0 else ''}{number(value)}"
