"""Scores of flood peaks. `n` is the number of observed peaks judged."""

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array
from hydrology.base.calendar import Days
from hydrology.base.reasons import Reason
from hydrology.scores.score_types import Score, ScoredPairs, Undefined, score

Indices = npt.NDArray[np.intp]


@score(minimum=7)
def peak_timing(pairs: ScoredPairs) -> Score:
    """Compute the mean absolute lag in days between observed and simulated peaks, within ±3 days.

    Observed peaks are at least 100 days apart with a prominence of at least σ_o. Range [0, 3], 0 is perfect;
    of equal maxima the first counts. A peak within 3 days of a gap or of an end is not judged. Undefined
    without a peak to judge, or with a constant simulation.
    Source: Kratzert et al. 2021, doi:10.5194/hess-25-2685-2021, without its shortcut that any local maximum of
    the simulation on the very day counts as no lag.
    """
    peaks = _unbroken(_prominent_peaks(pairs.observed), pairs.days, reach=3)
    if not len(peaks):
        raise Undefined(Reason.NO_PROMINENT_PEAK, n=0)
    if pairs.simulated.max() == pairs.simulated.min():
        raise Undefined(Reason.CONSTANT_SERIES, n=len(peaks), series="simulation")
    windows = pairs.simulated[peaks[:, np.newaxis] + np.arange(-3, 4)]
    return Score(float(np.abs(windows.argmax(axis=1) - 3).mean()), len(peaks))


@score(minimum=3)
def missed_peaks(pairs: ScoredPairs) -> Score:
    """Compute the fraction of observed peaks without a simulated peak within ±1 day.

    Peaks of either series lie on or above that series' own 80th percentile and at least 30 days apart. Range
    [0, 1], 0 is perfect. A peak beside a gap or an end is not judged. Undefined without a peak to judge.
    Source: as in neuralhydrology's `missed_peaks`, which includes the unjudged peaks in its denominator.
    """
    observed = _unbroken(_high_peaks(pairs.observed), pairs.days, reach=1)
    if not len(observed):
        raise Undefined(Reason.NO_HIGH_PEAK, n=0)
    simulated = _high_peaks(pairs.simulated)
    met = (np.abs(observed[:, np.newaxis] - simulated) <= 1).any(axis=1)
    return Score(float(1 - met.mean()), len(observed))


@score(minimum=3)
def peak_mape(pairs: ScoredPairs) -> Score:
    """Compute the mean absolute error of observed peaks in %, 100 mean |s_p-o_p|/o_p.

    Peaks as in `peak_timing`. Range [0, ∞), 0 is perfect. Undefined without a peak.
    """
    peaks = _prominent_peaks(pairs.observed)
    if not len(peaks):
        raise Undefined(Reason.NO_PROMINENT_PEAK, n=0)
    s, o = pairs.simulated[peaks], pairs.observed[peaks]
    return Score(float(100 * np.abs((s - o) / o).mean()), len(peaks))


def _prominent_peaks(flow: Array) -> Indices:
    from scipy.signal import find_peaks  # imported here: the API only reads scores, and does not load scipy

    return find_peaks(flow, distance=100, prominence=float(flow.std()))[0]


def _high_peaks(flow: Array) -> Indices:
    from scipy.signal import find_peaks

    return find_peaks(flow, distance=30, height=float(np.percentile(flow, 80)))[0]


def _unbroken(peaks: Indices, days: Days, *, reach: int) -> Indices:
    """Select the peaks with consecutive days within `reach` on either side."""
    peaks = peaks[(peaks >= reach) & (peaks + reach < len(days))]
    unbroken: Indices = peaks[days[peaks + reach] - days[peaks - reach] == np.timedelta64(2 * reach, "D")]
    return unbroken
