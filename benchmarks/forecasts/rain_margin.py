"""Reliability and cost of rain margins: was a level passed when more rain fell than the margin?

Hindcasts of the shipped ensemble in real basins over the validation years, from the states of many T0: the rain margins
of every window (`hydrology.extremes.rain_margin`) with the observed weather but no rain, against the rain that fell in
the window and the highest flow until the days of the response had passed. The forecast chance is the share of the
members whose margin was exceeded; it is compared with how often flow passed the level, in bins of that chance:
*simulated* flow, the share of the members that pass with the observed weather, against levels of their mean (how good a
margin is without the network's errors); *observed* flow against levels of the record. A margin is for no other rain:
reliability is of the cases with less than 5 mm of it from T0 to the end of the response, and beside it of all. Levels:
the flows exceeded on 5 % and 1 % of the days, and the two-year flood (the median of the annual maxima), of these years.
Left out are cases in which half of the members pass without rain. No test year is used. FRESHET_CAMELS names the data,
FRESHET_DATA a data folder, where basins that are missing are ingested first; one thread.
"""

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import VALIDATION
from benchmarks.regional.data import basins as all_basins
from benchmarks.regional.seasonal.hindcasts import read_forcings
from benchmarks.regional.simulations import observe
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, Period
from hydrology.extremes.annual import annual_maxima
from hydrology.extremes.rain_margin import (
    RAIN_MM,
    RESPONSE_DAYS,
    START_LEADS,
    WINDOW_DAYS,
    crossings,
    rain_margin,
    share_not_monotone,
)
from hydrology.water.storage import SPIN_UP_DAYS
from models.ensemble import GROUP, ArrayMap, Ensemble
from models.forcing import Forcing, days_of
from models.pretrained import SHELF, form
from models.pretrained.form import load
from operations.basin_data.dataset import stacked
from operations.forecasting.simulate import responses

ENSEMBLE = "mclstm-maurer-447"
EVERY_DAYS = 24
EXCEEDED_PERCENT = (5, 1)
LEVELS = (*(f"exceeded on {percent} % of days" for percent in EXCEEDED_PERCENT), "2-year flood")
OTHER_RAIN_MM = 5.0
BINS = np.array([-0.01, 0.0, 0.2, 0.4, 0.6, 0.8, 0.999, 1.0])

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Hindcasts:
    """Of N basins, I issues and M members.

    Attributes:
        period: the days simulated.
        discharge: with the observed weather, (M, N, days) in mm/day.
        rain: observed, (N, days).
        peaks: (I, N, windows, starts, sizes, M).
        cpu_seconds: of the peaks of one issue, in all basins, by issue.
    """

    period: Period
    t0s: npt.NDArray[np.datetime64]
    discharge: npt.NDArray[np.float32]
    rain: npt.NDArray[np.float32]
    peaks: npt.NDArray[np.float32]
    cpu_seconds: Array


def measure(basins: int = 447) -> dict[str, Any]:
    """Return reliability by bin, typical margins by month, and CPU seconds for all basins."""
    names = all_basins()[:: len(all_basins()) // basins][:basins]
    return reported(names, hindcasts(load(form.read(SHELF / ENSEMBLE)), names))


def hindcasts(ensemble: Ensemble, names: list[str]) -> Hindcasts:
    """Simulate the validation years, and the responses from every T0."""
    forcings = [basin.forcing for basin in read_forcings(ensemble, names)]
    last = Period.parse(VALIDATION).last
    period = Period(max(forcing.first for forcing in forcings), last)
    longest = START_LEADS[-1] + WINDOW_DAYS[-1] + RESPONSE_DAYS
    t0s = np.arange(period.first + SPIN_UP_DAYS, last - longest, EVERY_DAYS)
    groups = [
        _of_group(ensemble, stacked(forcings[first : first + GROUP]).over(period), t0s)
        for first in range(0, len(forcings), GROUP)
    ]
    rain = stacked([forcing.over(period) for forcing in forcings]).mass
    discharge, peaks, seconds = zip(*groups, strict=True)
    return Hindcasts(
        period, t0s, np.concatenate(discharge, axis=1), rain, np.concatenate(peaks, axis=1), np.sum(seconds, axis=0)
    )


def _of_group(
    ensemble: Ensemble, forcing: Forcing, t0s: npt.NDArray[np.datetime64]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], Array]:
    states: list[ArrayMap] | None = None
    first: Day = forcing.first
    flow, peaks, seconds = [], [], []
    for t0 in t0s:
        outputs, states = ensemble.simulate(forcing.over(Period(first, t0)), states, ("discharge",))
        flow.append(outputs["discharge"].astype(np.float32))
        first = t0 + 1
        started = time.process_time()
        peaks.append(responses(ensemble, forcing.over(Period(first, t0 + 10)), states))
        seconds.append(time.process_time() - started)
    outputs, _ = ensemble.simulate(forcing.over(Period(first, forcing.period.last)), states, ("discharge",))
    flow.append(outputs["discharge"].astype(np.float32))
    print(f"{len(forcing.ids)} basins, {len(t0s)} issues are simulated", file=sys.stderr)
    return np.concatenate(flow, axis=2), np.stack(peaks), np.array(seconds)


def reported(names: list[str], done: Hindcasts) -> dict[str, Any]:
    """Return the figures of hindcasts."""
    judged = Period(done.period.first + SPIN_UP_DAYS, done.period.last)
    observed, simulated = np.full(done.rain.shape, np.nan), done.discharge.mean(axis=0, dtype=np.float64)
    days = days_of(done.period, judged)
    observed[:, days] = observe(names, str(judged)).discharge
    of_simulated, of_observed = (_levels(flow[:, days], judged) for flow in (simulated, observed))
    return {
        "shape": f"{len(names)} basins, {len(done.t0s)} T0 from {done.t0s[0]} to {done.t0s[-1]}, "
        f"{done.peaks.shape[-1]} members, {len(WINDOW_DAYS) * len(START_LEADS)} windows, {len(RAIN_MM)} sizes",
        "cpu_seconds_of_one_issue": float(np.median(done.cpu_seconds)),
        "not_monotone": share_not_monotone(done.peaks),
        "simulated": _reliability(done, done.discharge, of_simulated),
        "observed": _reliability(done, observed[None], of_observed),
        "median_margin_mm_of_1_day_to_the_2_year_flood": _by_month(done, of_observed["2-year flood"]),
    }


def _levels(flow: Array, days: Period) -> dict[str, Array]:
    """Return each level of basins' flow, (basins,)."""
    levels = np.full((len(LEVELS), len(flow)), np.nan)
    for basin, of_basin in enumerate(flow):
        if np.isfinite(of_basin).any():
            quantiles = np.nanquantile(of_basin, [1 - percent / 100 for percent in EXCEEDED_PERCENT])
            levels[:, basin] = *quantiles, np.median(annual_maxima(of_basin, days.days).values)
    return dict(zip(LEVELS, levels, strict=True))


def _reliability(done: Hindcasts, flow: npt.NDArray[Any], levels: Mapping[str, Array]) -> dict[str, Any]:
    """Return chance and frequency by bin, without other rain of each level and of all, and with it.

    Args:
        flow: (members, basins, days), or one member.
    """
    pairs = {name: _pairs(done, flow, of_basins) for name, of_basins in levels.items()}
    every = np.concatenate([*pairs.values()], axis=1)
    shown = {"all levels": every} | pairs
    without = {name: _bins(of_level[:, of_level[2] < OTHER_RAIN_MM]) for name, of_level in shown.items()}
    return without | {"all levels, whatever else fell": _bins(every)}


def _pairs(done: Hindcasts, flow: npt.NDArray[Any], level: Array) -> Array:
    """Return the chance by the rain that fell, the share of flows that passed, and the other rain, (3, cases)."""
    cases = []
    t0 = (done.t0s - done.period.first).astype(int)[:, None]
    for basin in np.flatnonzero(np.isfinite(level)):
        margins, rain = crossings(done.peaks[:, basin], RAIN_MM, level[basin]), done.rain[basin].astype(np.float64)
        for row, window in enumerate(WINDOW_DAYS):
            for at, lead in enumerate(START_LEADS):
                fell = rain[t0 + lead + np.arange(window)].sum(axis=1)
                other = rain[t0 + np.arange(1, lead + window + RESPONSE_DAYS)].sum(axis=1) - fell
                came = flow[:, basin][:, t0 + lead + np.arange(window + RESPONSE_DAYS)].max(axis=-1)
                chance = (margins[:, row, at] <= fell[:, None]).mean(axis=-1)
                needs_rain = (margins[:, row, at] == 0).mean(axis=-1) < 0.5
                known = np.isfinite(came).all(axis=0) & needs_rain
                cases.append(np.stack([chance, (came >= level[basin]).mean(axis=0), other])[:, known])
    return np.concatenate(cases, axis=1)


def _bins(pairs: Array) -> list[dict[str, float]]:
    chance, passed, _ = pairs
    place = np.digitize(chance, BINS[1:-1], right=True)
    return [
        {
            "chance": round(float(chance[chosen].mean()), 3),
            "passed": round(float(passed[chosen].mean()), 3),
            "cases": int(chosen.sum()),
        }
        for at in range(len(BINS) - 1)
        if (chosen := place == at).any()
    ]


def _by_month(done: Hindcasts, level: Array) -> dict[str, float | None]:
    """Return the median over basins and issues of a month; those without a margin count as infinite."""
    months = done.t0s.astype("datetime64[M]").astype(int) % 12 + 1
    shown: dict[str, float | None] = {}
    for month in (1, 4, 7, 10):
        margins = []
        for basin in np.flatnonzero(np.isfinite(level)):
            of_members = crossings(done.peaks[months == month, basin, 0, 0], RAIN_MM, level[basin])
            medians = [rain_margin(one, RAIN_MM[-1]).median for one in of_members]
            margins += [np.inf if isinstance(one, Absent) else one for one in medians]
        median = float(np.median(margins))
        shown[str(month)] = round(median, 1) if np.isfinite(median) else None
    return shown
