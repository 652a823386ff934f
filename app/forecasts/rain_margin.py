"""/v1/basins/{basin}/rain-margin: rain that takes flow to a level, from the stored response to rain."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import Literal

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.run_levels import AnsweredLevel, levels_of
from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts.exceedance import Discharge, LevelUnits
from app.forecasts.header import FieldUnits, RunOfBasin, header
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.words import depth, level_in_words, number, on
from app.http.base_schema import EXPLAINED, Missing, Model, maybe
from app.http.dependencies import Reading
from app.http.json_numbers import rounded, rounded_or_none
from hydrology.base.absent import Absent, absent, known, text
from hydrology.base.arrays import Array
from hydrology.base.calendar import as_date
from hydrology.base.errors import counted
from hydrology.base.reasons import Reason
from hydrology.base.units import NoArea, Units
from hydrology.extremes.rain_margin import (
    RAIN_MM,
    RESPONSE_DAYS,
    MarginStatus,
    crossings,
    rain_margin,
    share_not_monotone,
)
from hydrology.uncertainty.error_model import shifted
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs
from records.runs.run_weather import weights_of_members

MarginFlow = Literal["corrected", "simulated"]


class WindowMargin(Model):
    """The rain in one window that takes flow to a level, mm. The highest flow is looked for until `response_days` after
    the window."""

    first_day: date = Field(description="The first day of the rain.")
    days: int = Field(description="Number of days over which it falls.")
    status: MarginStatus = Field(
        description="By the median: `needs-rain`; `already-above`, where flow is above the level without rain; "
        f"`not-reached`, where {RAIN_MM[-1]:g} mm do not suffice."
    )
    median: float | None = Field(description="The rain that suffices in half of the members; 0 where none is needed.")
    p05: float | None = Field(description="The rain that suffices in 5 % of them.")
    p95: float | None = Field(description="The rain that suffices in 95 % of them.")
    reason: str | None = Field(description="Why any of them is null; null where none is.")


class LevelMargin(Model):
    """The rain that takes flow to one level."""

    name: str | None = Field(
        description="The level's name in `/v1/basins/{basin}/thresholds`; null for a requested discharge."
    )
    discharge: float | None = Field(description="In `units`; null where the record is too short to estimate it.")
    flow: MarginFlow = Field(
        description="What is compared with the level: `corrected`, the members' flow moved by the error model from the "
        "last observed flow; `simulated`, the members' flow as it is: for levels of the version's own simulation, or "
        "without an error model."
    )
    windows: list[WindowMargin] | None = Field(
        description="Margins by the window's length and first day, as far as the run's days reach."
    )
    in_words: str | None = Field(description="The shortest and the longest window from the first day, in a sentence.")
    reason: str | None = Field(description="Why the others are null; null where they are not.")


class RainMarginOfRun(RunOfBasin):
    """The rain that takes flow to each level, from the water in the basin at T0."""

    units: FieldUnits
    response_days: int = Field(description="Days after a window until which the highest flow is looked for.")
    levels: list[LevelMargin] | None = Field(
        description="The rising levels set by operators, the basin's floods, and those of the version's own "
        "simulation; or the requested discharge."
    )
    not_monotone: float | None = Field(
        description="Share of the members' responses in which flow falls although more rain fell, 0 to 1: a fault of "
        "the networks. A margin is then the smallest rain that suffices."
    )
    missing: Missing = EXPLAINED


_DEPTHS = tuple(f"levels.windows.{name}" for name in ("median", "p05", "p95"))
_CORRECTED = "corrected"
_BY_MEDIAN = ", in the median of the members."


def rain_margin_of_run(
    session: Session, latest: Latest, at: datetime | None, units: Units, discharge: float | None
) -> RainMarginOfRun:
    """Return the rain margins of a level in `units`, or of the basin's own rising ones; `at` is for a latest answer."""
    run, basin = latest.run, latest.basin
    wanted = (run_types.PEAKS_BY_RAIN, run_types.ERROR_SHIFTS)
    arrays = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    peaks = arrays.get(run_types.PEAKS_BY_RAIN, _why_missing(run, basin))
    levels: list[LevelMargin] | Absent = []
    if isinstance(peaks, Absent):
        levels = peaks
    else:
        weights = weights_of_members(basin.summary.parts, peaks.axes["member"])
        corrected = _corrected(peaks, arrays.get(run_types.ERROR_SHIFTS), basin)
        levels = [
            _of_level(peaks if level.of_model else corrected, weights, run, level, units)
            for level in levels_of(session, latest, at, units, discharge)
            if level.direction == "rising"
        ]
    return RainMarginOfRun(
        **header(latest, at),
        units={"levels.discharge": units, **dict.fromkeys(_DEPTHS, "mm")},
        response_days=RESPONSE_DAYS,
        levels=maybe(levels),
        not_monotone=maybe(peaks, lambda of_members: rounded(share_not_monotone(of_members.values))),
    )


def _why_missing(run: run_types.Run, basin: run_types.RunBasin) -> Absent:
    if basin.status == "issued" and basin.pruned is None and run.purpose != "operational":
        return absent(Reason.RAIN_MARGIN_NOT_COMPUTED)
    return basin.why_missing


def _corrected(
    peaks: run_arrays.RunSeries, shifts: run_arrays.RunSeries | None, basin: run_types.RunBasin
) -> run_arrays.RunSeries | Absent:
    """Return the response moved by the error model on the last day of each window, or why it cannot be."""
    if shifts is None:
        uncalibrated = isinstance(basin.summary.calibration, Absent)
        return peaks if uncalibrated else absent(Reason.RAIN_MARGIN_NOT_CORRECTED)
    values, flows = peaks.values.astype(np.float64), np.array(shifts.axes["flow"])
    by_lead = dict(zip(shifts.axes["lead"], shifts.values, strict=True))
    for of_window, days in zip(values, peaks.axes["window"], strict=True):
        for of_start, lead in zip(of_window, peaks.axes["lead"], strict=True):
            of_start[:] = shifted(of_start, flows, by_lead[lead + days - 1])
    return replace(peaks, variable=_CORRECTED, values=values)


def _of_level(
    peaks: run_arrays.RunSeries | Absent, weights: Array | None, run: run_types.Run, level: AnsweredLevel, units: Units
) -> LevelMargin:
    corrected = isinstance(peaks, Absent) or peaks.variable == _CORRECTED
    flow_of: MarginFlow = "corrected" if corrected else "simulated"
    margin = partial(LevelMargin, name=level.name, flow=flow_of)
    if level.depth is None or level.shown is None:
        return margin(discharge=None, windows=None, in_words=None, reason=text(level.reason))
    if isinstance(peaks, Absent):
        return margin(discharge=rounded(level.shown), windows=None, in_words=None, reason=str(peaks))
    windows = list(_windows(peaks, weights, run, level.depth))
    words = _in_words(windows, level_in_words(level, units), peaks.axes["rain"][-1])
    return margin(discharge=rounded(level.shown), windows=windows, in_words=words, reason=None)


def _windows(
    peaks: run_arrays.RunSeries, weights: Array | None, run: run_types.Run, depth: float
) -> Iterator[WindowMargin]:
    sizes = peaks.axes["rain"]
    by_window = crossings(peaks.values, sizes, depth)
    for days, of_window in zip(peaks.axes["window"], by_window, strict=True):
        for lead, of_members in zip(peaks.axes["lead"], of_window, strict=True):
            if not np.isnan(of_members).any():
                margin = rain_margin(of_members, sizes[-1], weights)
                low, median, high = (rounded_or_none(known(mm)) for mm in (margin.low, margin.median, margin.high))
                yield WindowMargin(
                    first_day=as_date(run.t0 + np.timedelta64(lead, "D")),
                    days=days,
                    status=margin.status,
                    median=median,
                    p05=low,
                    p95=high,
                    reason=str(margin.high) if isinstance(margin.high, Absent) else None,
                )


def _in_words(windows: list[WindowMargin], what: str, largest_mm: float) -> str | None:
    first = [window for window in windows if window.first_day == windows[0].first_day]
    if not first:
        return None
    shortest, longest = first[0], first[-1]
    start = f"From {on(shortest.first_day)}"
    if {shortest.status, longest.status} == {"already-above"}:
        return f"{start} flow is above {what} without more rain."
    reached = [window for window in dict.fromkeys((shortest, longest)) if window.status == "needs-rain"]
    if not reached:
        return f"{start}, {largest_mm:g} mm of rain within {_days(longest)} do not take flow to {what}{_BY_MEDIAN}"
    amounts = " or ".join(_amount(window) for window in reached)
    return f"{start}, {amounts} take flow to {what}{_BY_MEDIAN}"


def _amount(window: WindowMargin) -> str:
    low, high = number(window.p05 or 0), "more" if window.p95 is None else number(window.p95)
    return f"{depth(window.median or 0)} of rain within {_days(window)} ({low} to {high})"


def _days(window: WindowMargin) -> str:
    return counted(window.days, "day")


router = APIRouter(prefix="/basins", tags=["forecasts"])


@router.get(
    "/{basin}/rain-margin",
    summary="Rain that takes flow to each level",
    **documented_responses(RainMarginOfRun, *PROBLEMS, NoArea),
)
def read_rain_margin(
    session: Reading, asked: AskedRun, answer: JsonAnswer, units: LevelUnits = "m3/s", discharge: Discharge = None
) -> Response:
    """How many millimetres of rain within 1, 2 or 3 days, starting on each of the next days, take the day's mean flow
    to a level: to the floods and rising operators' levels in `thresholds`, or to a requested discharge. Computed from
    the water in the basin at T0 when an operational run is issued: the rain falls evenly over the days of its window,
    no other rain falls, and all other weather is the mean of the forecast. Flow is corrected by the error model from
    the last observed flow, as the forecast's is; that compared with levels of the version's own simulation
    (`model-...`) is as it was simulated. Median and range are of the model's members."""
    return answer.of(rain_margin_of_run(session, *asked, units, discharge))
