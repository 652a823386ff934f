"""Rain margins of levels, from the response of flow to rain that a run stores."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, datetime
from functools import partial

import numpy as np
from sqlalchemy.orm import Session

from app.basins.run_levels import AnsweredLevel, level_asked_for, levels_of
from app.forecasts.header import header, missing_in_header
from app.forecasts.rain_margin.schemas import LevelMargin, MarginFlow, RainMarginOfRun, WindowMargin
from app.forecasts.words import UNITS, number, on
from app.http.json_numbers import rounded
from hydrology.base.absent import Absent, absent, text, texts
from hydrology.base.arrays import Array
from hydrology.base.calendar import as_date
from hydrology.base.errors import counted
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from hydrology.extremes.rain_margin import RESPONSE_DAYS, RainMargin, crossings, rain_margin, share_not_monotone
from hydrology.uncertainty.error_model import shifted
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs
from records.runs.run_parts import weights_of_members

_DEPTHS = tuple(f"levels.windows.{name}" for name in ("median", "p05", "p95"))
_CORRECTED = "corrected"
_BY_MEDIAN = ", in the median of the members."


def rain_margin_of_run(
    session: Session, latest: Latest, at: datetime | None, units: Units, discharge: float | None
) -> RainMarginOfRun:
    """Return the rain margins of a run; `at` is the clock's time for a latest answer.

    Args:
        discharge: a level in `units`; the basin's own rising levels where it is None.

    Raises:
        NoArea: the run names no area, and levels are not in mm/day.
    """
    run, basin, missing = latest.run, latest.basin, missing_in_header(latest.basin)
    wanted = (run_types.PEAKS_BY_RAIN, run_types.ERROR_SHIFTS)
    arrays = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    peaks, margins, not_monotone = arrays.get(run_types.PEAKS_BY_RAIN), None, None
    if peaks is None:
        missing |= dict.fromkeys(("levels", "not_monotone"), _why_missing(run, basin))
    else:
        asked = None if discharge is None else [level_asked_for(basin, units, discharge)]
        levels = asked or levels_of(session, run, basin, units)
        weights = weights_of_members(basin.summary.parts, peaks.axes["member"])
        corrected = _corrected(peaks, arrays.get(run_types.ERROR_SHIFTS), basin)
        margins = [
            _of_level(peaks if level.of_model else corrected, weights, run, level, units)
            for level in levels
            if level.direction == "rising"
        ]
        not_monotone = rounded(share_not_monotone(peaks.values))
    return RainMarginOfRun(
        **header(latest, at),
        units={"levels.discharge": units, **dict.fromkeys(_DEPTHS, "mm")},
        response_days=RESPONSE_DAYS,
        levels=margins,
        not_monotone=not_monotone,
        missing=texts(missing),
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
    """Return the margin of a level.

    Args:
        peaks: the response to compare with it, or why there is none.
    """
    corrected = isinstance(peaks, Absent) or peaks.variable == _CORRECTED
    flow_of: MarginFlow = "corrected" if corrected else "simulated"
    margin = partial(LevelMargin, name=level.name, flow=flow_of)
    if level.depth is None or level.shown is None:
        return margin(discharge=None, windows=None, in_words=None, reason=text(level.reason))
    if isinstance(peaks, Absent):
        return margin(discharge=rounded(level.shown), windows=None, in_words=None, reason=str(peaks))
    windows = list(_windows(peaks, weights, run, level.depth))
    flow = f"{number(level.shown)} {UNITS[units]}"
    what = flow if level.name is None else f"{level.name} ({flow})"
    words = _in_words(windows, what, peaks.axes["rain"][-1])
    return margin(discharge=rounded(level.shown), windows=windows, in_words=words, reason=None)


def _windows(
    peaks: run_arrays.RunSeries, weights: Array | None, run: run_types.Run, depth: float
) -> Iterator[WindowMargin]:
    sizes = peaks.axes["rain"]
    by_window = crossings(peaks.values, sizes, depth)
    for days, of_window in zip(peaks.axes["window"], by_window, strict=True):
        for lead, of_members in zip(peaks.axes["lead"], of_window, strict=True):
            if not np.isnan(of_members).any():
                first_day = as_date(run.t0 + np.timedelta64(lead, "D"))
                yield _window(first_day, days, rain_margin(of_members, sizes[-1], weights))


def _window(first_day: date, days: int, margin: RainMargin) -> WindowMargin:
    low, median, high = (_mm(mm) for mm in (margin.low, margin.median, margin.high))
    reason = margin.high if isinstance(margin.high, Absent) else None
    return WindowMargin(
        first_day=first_day, days=days, status=margin.status, median=median, p05=low, p95=high, reason=text(reason)
    )


def _mm(mm: float | Absent) -> float | None:
    return None if isinstance(mm, Absent) else rounded(mm)


def _in_words(windows: list[WindowMargin], what: str, largest_mm: float) -> str | None:
    """Describe the margins of the shortest and the longest window from the first day."""
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
    return f"{number(window.median or 0)} mm of rain within {_days(window)} ({low} to {high})"


def _days(window: WindowMargin) -> str:
    return counted(window.days, "day")
