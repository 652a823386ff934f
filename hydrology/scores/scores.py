"""Deterministic scores of daily discharge and of its flood peaks, and their registry by name.

Every score is `score(simulated, observed, *, days=None) -> Score` (see `hydrology.scores.score_types`): pairs with a
missing side are dropped, standard deviations have ddof = 0, and an undefined score is None with the reason. `n` of a
score of peaks is the number of observed peaks judged.
"""

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array
from hydrology.base.calendar import Days
from hydrology.base.reasons import Reason
from hydrology.scores.score_types import Score, ScoredPairs, ScoreFunction, Undefined, score

FLOOR = 1e-6
"""Lower bound of flow (mm/day) before taking a logarithm."""


@score(minimum=2)
def nse(pairs: ScoredPairs) -> Score:
    """Compute the Nash-Sutcliffe efficiency, 1 - Σ(s-o)² / Σ(o-ō)².

    Range (-∞, 1], 1 is perfect, 0 no better than the observed mean. Undefined for a constant observation.
    Source: Nash and Sutcliffe 1970, doi:10.1016/0022-1694(70)90255-6.
    """
    s, o = pairs.simulated, pairs.observed
    _spread(o, "observation")
    return Score(float(1 - ((s - o) ** 2).sum() / ((o - o.mean()) ** 2).sum()), len(pairs))


@score(minimum=2)
def log_nse(pairs: ScoredPairs) -> Score:
    """Compute the Nash-Sutcliffe efficiency of the logarithm of flow, which judges the level of low flows.

    `nse` of ln(q + ε), ε a hundredth of the observed mean; flows below 0 count as 0. Undefined for a constant
    observation.
    Source: Pushpalatha et al. 2012, doi:10.1016/j.jhydrol.2011.11.055.
    """
    added = max(pairs.observed.mean() / 100, FLOOR)
    s, o = (np.log(np.maximum(flow, 0) + added) for flow in (pairs.simulated, pairs.observed))
    _spread(o, "observation")
    return Score(float(1 - ((s - o) ** 2).sum() / ((o - o.mean()) ** 2).sum()), len(pairs))


@score(minimum=3)
def pearson_r(pairs: ScoredPairs) -> Score:
    """Compute Pearson's correlation coefficient.

    Range [-1, 1]. Undefined if either side is constant; two pairs would always give ±1, so three are required.
    """
    return Score(_correlation(pairs), len(pairs))


@score(minimum=2)
def alpha_nse(pairs: ScoredPairs) -> Score:
    """Compute the ratio of the standard deviations, σ_s/σ_o.

    Range [0, ∞), 1 is perfect. Undefined for a constant observation.
    Source: Gupta et al. 2009, doi:10.1016/j.jhydrol.2009.08.003.
    """
    sigma = _spread(pairs.observed, "observation")
    return Score(float(pairs.simulated.std() / sigma), len(pairs))


@score(minimum=2)
def beta_nse(pairs: ScoredPairs) -> Score:
    """Compute the bias in units of the observed spread, (μ_s-μ_o)/σ_o.

    Range (-∞, ∞), 0 is perfect, above 0 is too much water. Undefined for a constant observation.
    Source: Gupta et al. 2009, doi:10.1016/j.jhydrol.2009.08.003.
    """
    s, o = pairs.simulated, pairs.observed
    return Score(float((s.mean() - o.mean()) / _spread(o, "observation")), len(pairs))


@score(minimum=1)
def beta_kge(pairs: ScoredPairs) -> Score:
    """Compute the ratio of the means, μ_s/μ_o.

    1 is perfect, above 1 is too much water. Undefined where the observed mean is 0.
    Source: Gupta et al. 2009, doi:10.1016/j.jhydrol.2009.08.003.
    """
    return Score(float(pairs.simulated.mean() / _mean(pairs.observed, "observed")), len(pairs))


@score(minimum=3)
def kge(pairs: ScoredPairs) -> Score:
    """Compute the Kling-Gupta efficiency of 2009, 1 - √((r-1)² + (α-1)² + (β-1)²) with α = σ_s/σ_o, β = μ_s/μ_o.

    Range (-∞, 1], 1 is perfect; the observed mean as simulation tends to 1 - √2. Undefined if either side is
    constant (no r) or the observed mean is 0 (no β).
    Source: Gupta et al. 2009, doi:10.1016/j.jhydrol.2009.08.003.
    """
    r, beta = _correlation(pairs), pairs.simulated.mean() / _mean(pairs.observed, "observed")
    alpha = pairs.simulated.std() / pairs.observed.std()
    return Score(float(1 - np.sqrt((r - 1) ** 2 + (alpha - 1) ** 2 + (beta - 1) ** 2)), len(pairs))


@score(minimum=3)
def kge_2012(pairs: ScoredPairs) -> Score:
    """Compute the Kling-Gupta efficiency of 2012.

    `kge` with the ratio of variation coefficients instead of α. 1 - √((r-1)² + (γ-1)² + (β-1)²), γ =
    (σ_s/μ_s)/(σ_o/μ_o). Undefined if either side is constant or has mean 0. Source: Kling et al. 2012,
    doi:10.1016/j.jhydrol.2012.01.011.
    """
    r = _correlation(pairs)
    mean_s, mean_o = _mean(pairs.simulated, "simulated"), _mean(pairs.observed, "observed")
    beta, gamma = mean_s / mean_o, (pairs.simulated.std() / mean_s) / (pairs.observed.std() / mean_o)
    return Score(float(1 - np.sqrt((r - 1) ** 2 + (gamma - 1) ** 2 + (beta - 1) ** 2)), len(pairs))


@score(minimum=1)
def rmse(pairs: ScoredPairs) -> Score:
    """Compute the root mean square error √(mean (s-o)²), in the unit of the data (mm/day); 0 is perfect."""
    return Score(_root_mean_square(pairs.simulated - pairs.observed), len(pairs))


@score(minimum=26)
def fhv(pairs: ScoredPairs) -> Score:
    """Compute the bias of peak flows in %, 100 Σ(s_h-o_h)/Σo_h over the top 2 % of each flow duration curve.

    Above 0: peaks too high. The two curves are sorted separately; the top 2 % is round(0.02 n) values, so
    25 days have none. Undefined where the observed top sums to 0.
    Source: Yilmaz et al. 2008, doi:10.1029/2007WR006716.
    """
    top = round(0.02 * len(pairs))
    s, o = _duration_curve(pairs.simulated)[:top], _duration_curve(pairs.observed)[:top]
    if o.sum() <= 0:
        raise Undefined(Reason.HIGH_FLOW_IS_0)
    return Score(float(100 * (s - o).sum() / o.sum()), len(pairs))


@score(minimum=26)
def high_flow_rmse(pairs: ScoredPairs) -> Score:
    """Compute the root mean square difference of the top 2 % of the two flow duration curves, as of `fhv`, in mm/day.

    0 is perfect. Published as the RMSE of peak flow. Source: Song et al. 2024, doi:10.5194/hess-28-3051-2024.
    """
    top = round(0.02 * len(pairs))
    difference = _duration_curve(pairs.simulated)[:top] - _duration_curve(pairs.observed)[:top]
    return Score(_root_mean_square(difference), len(pairs))


@score(minimum=5)
def flv(pairs: ScoredPairs) -> Score:
    """Compute the bias of the low-flow tail in %, over the lowest 30 % of each flow duration curve.

    -100 (Σ(ln s_l - min ln s) - Σ(ln o_l - min ln o)) / Σ(ln o_l - min ln o), flows below 1e-6 mm/day taken
    as 1e-6. Above 0: the low tail is too flat. It is blind to scale: twice the flow has the same FLV.
    Undefined where the observed low tail is flat. Five days at least, for a tail of two.
    Source: Yilmaz et al. 2008, doi:10.1029/2007WR006716.
    """
    low = round(0.3 * len(pairs))
    s, o = _log_curve(pairs.simulated)[-low:], _log_curve(pairs.observed)[-low:]
    tail_s, tail_o = (s - s[-1]).sum(), (o - o[-1]).sum()
    if tail_o == 0:
        raise Undefined(Reason.LOW_FLOW_IS_FLAT)
    return Score(float(-100 * (tail_s - tail_o) / tail_o), len(pairs))


@score(minimum=5)
def low_flow_bias(pairs: ScoredPairs) -> Score:
    """Compute the bias of low flows in %, 100 Σ(s_l-o_l)/Σo_l over the lowest 30 % of each flow duration curve.

    Above 0: low flows too high. Unlike `flv` it depends on the level of low flows, and not on the lowest day alone.
    Undefined where the observed low flows sum to 0. Source: Feng et al. 2022, doi:10.1029/2022WR032404.
    """
    low = round(0.3 * len(pairs))
    s, o = _duration_curve(pairs.simulated)[-low:], _duration_curve(pairs.observed)[-low:]
    if o.sum() <= 0:
        raise Undefined(Reason.LOW_FLOW_IS_0)
    return Score(float(100 * (s - o).sum() / o.sum()), len(pairs))


@score(minimum=5)
def low_flow_rmse(pairs: ScoredPairs) -> Score:
    """Compute the root mean square difference of the lowest 30 % of the two flow duration curves, in mm/day.

    0 is perfect. Source: Song et al. 2024, doi:10.5194/hess-28-3051-2024.
    """
    low = round(0.3 * len(pairs))
    difference = _duration_curve(pairs.simulated)[-low:] - _duration_curve(pairs.observed)[-low:]
    return Score(_root_mean_square(difference), len(pairs))


@score(minimum=10)
def fms(pairs: ScoredPairs) -> Score:
    """Compute the bias of the slope of the flow duration curve's middle, in %.

    100 ((ln s₂₀ - ln s₇₀) - (ln o₂₀ - ln o₇₀)) / (ln o₂₀ - ln o₇₀), q_p the flow exceeded p % of the time,
    flows below 1e-6 mm/day taken as 1e-6. Above 0: too flashy. It is blind to scale. Undefined where the
    observed middle is flat. Ten days at least, so that five ranks lie between the two points.
    Source: Yilmaz et al. 2008, doi:10.1029/2007WR006716.
    """
    ranks = [round(0.2 * len(pairs)), round(0.7 * len(pairs))]
    s, o = _log_curve(pairs.simulated)[ranks], _log_curve(pairs.observed)[ranks]
    slope_s, slope_o = s[0] - s[1], o[0] - o[1]
    if slope_o == 0:
        raise Undefined(Reason.MIDDLE_FLOW_IS_FLAT)
    return Score(float(100 * (slope_s - slope_o) / slope_o), len(pairs))


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


OF_CURVES = (
    *(alpha_nse, beta_nse, beta_kge),
    *(fhv, high_flow_rmse, flv, low_flow_bias, low_flow_rmse, fms),
)
"""The scores that compare the distributions of flow, whatever its days."""
_ALL = (nse, log_nse, kge, kge_2012, *OF_CURVES, rmse, pearson_r)
_OF_PEAKS = (peak_timing, missed_peaks, peak_mape)
SCORES: Mapping[str, ScoreFunction] = MappingProxyType(
    {function.__name__: function for function in (*_ALL, *_OF_PEAKS)}
)
"""Every deterministic score, by its stable name."""


def all_scores(simulated: npt.ArrayLike, observed: npt.ArrayLike, days: Days) -> dict[str, Score]:
    """Compute every score of `SCORES` for one basin's series, each of shape (days,), in mm/day."""
    return {name: function(simulated, observed, days=days) for name, function in SCORES.items()}


def _root_mean_square(difference: Array) -> float:
    return float(np.sqrt((difference**2).mean()))


def _spread(values: Array, name: str) -> float:
    # A constant such as 0.1 can have a standard deviation of 1e-17: compare the values themselves.
    sigma = 0.0 if values.max() == values.min() else float(values.std())
    if sigma == 0:
        raise Undefined(Reason.CONSTANT_SERIES, series=name)
    return sigma


def _mean(values: Array, name: str) -> float:
    mean = float(values.mean())
    if mean == 0:
        raise Undefined(Reason.MEAN_IS_0, series=name)
    return mean


def _correlation(pairs: ScoredPairs) -> float:
    s, o = pairs.simulated, pairs.observed
    sigma_s, sigma_o = _spread(s, "simulation"), _spread(o, "observation")
    r = (((s - s.mean()) / sigma_s) * ((o - o.mean()) / sigma_o)).mean()
    return float(np.clip(r, -1, 1))


def _duration_curve(flow: Array) -> Array:
    return np.sort(flow)[::-1]


def _log_curve(flow: Array) -> Array:
    return np.log(np.maximum(_duration_curve(flow), FLOOR))


Indices = npt.NDArray[np.intp]


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
