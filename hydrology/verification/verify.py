"""Verifies probabilistic flow forecasts against observations, by lead time.

Every forecaster is judged on the same days, so that skill compares like with like. An undefined score is None, and
`missing` gives the reason.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent, absent, known
from hydrology.base.arrays import Array, Integers, Mask
from hydrology.base.calendar import Days, month, water_year
from hydrology.base.reasons import Reason
from hydrology.scores.bootstrap import MIN_YEARS, ratio_interval
from hydrology.scores.scores import nse
from hydrology.uncertainty.error_model import LEVELS
from hydrology.verification.results import (
    ALL_YEAR,
    SEASONS,
    TENTHS,
    WARNING_CHANCE,
    ForecastScores,
    MonthSkill,
    Reliability,
    Season,
    Spread,
    Verification,
)
from hydrology.verification.skilful_days import independent_issues

CLIMATOLOGY, PERSISTENCE, DAMPED = "climatology", "persistence", "damped-persistence"
"""The reference forecasters, the first two of them of skill scores."""
_COUNTS = ("n", "years", "independent_issues", "missing")
_FIGURES = tuple(field.name for field in fields(Verification) if field.name not in _COUNTS)


def score_all(
    quantiles: Mapping[str, Array | Absent], last_observed: Array, observed: Array, threshold: float
) -> dict[str, ForecastScores | Absent]:
    """Return the scores of forecasters and of persistence, or why there are none.

    They give quantiles at `LEVELS`, (days, levels), or one flow, (days, 1); last (T0) and observed flow is (days,), and
    all, with the threshold of warnings, is in mm/day.
    """
    every = {**quantiles, PERSISTENCE: last_observed[:, None]}
    return {
        name: of_days if isinstance(of_days, Absent) else _scores_of(of_days, observed, threshold)
        for name, of_days in every.items()
    }


def _scores_of(forecast: Array, observed: Array, threshold: float) -> ForecastScores:
    if forecast.shape[1] == 1:
        return ForecastScores.of_flow(forecast[:, 0], observed, threshold)
    return ForecastScores.of_quantiles(forecast, LEVELS, observed, threshold)


def verify(
    forecasters: Mapping[str, ForecastScores | Absent], days: Days, observed: Array, threshold: float, lead: int
) -> Iterator[tuple[str, Season, Verification]]:
    """Yield forecaster, season and skill, for every forecaster and season.

    The forecasters, `CLIMATOLOGY` and `PERSISTENCE` among them, are of the same days (days,), at a lead in days after
    T0; flows and threshold are in mm/day.
    """
    for season, months in SEASONS.items():
        of_season = np.isin(month(days), months)
        years, issues = _year_places(days[of_season]), independent_issues(days[of_season], lead)
        parts = {
            name: judged if isinstance(judged, Absent) else judged.over(of_season)
            for name, judged in forecasters.items()
        }
        for name, judged in parts.items():
            figures = _figures(judged, parts, years, observed[of_season], threshold)
            figures["months"] = (
                _by_month(judged, parts[CLIMATOLOGY], days, lead)
                if season == ALL_YEAR
                else absent(Reason.MONTHS_OF_ALL_YEAR)
            )
            yield name, season, Verification.of(int(of_season.sum()), _count(years), issues, figures)


def _year_places(days: Days) -> Integers:
    """Return the water year of each day, as an index among the years present."""
    return np.asarray(np.unique(water_year(days), return_inverse=True)[1])


def _count(years: Integers) -> int:
    return int(years.max(initial=-1)) + 1


def _sums(years: Integers, values: npt.NDArray[Any]) -> Array:
    return np.bincount(years, values).astype(np.float64)


def _figures(
    judged: ForecastScores | Absent,
    rivals: Mapping[str, ForecastScores | Absent],
    years: Integers,
    observed: Array,
    threshold: float,
) -> dict[str, Any]:
    if not len(observed):
        return dict.fromkeys(_FIGURES, absent(Reason.NO_DAY_TO_VERIFY))
    if isinstance(judged, Absent):
        return dict.fromkeys(_FIGURES, judged)
    score = nse(judged.median, observed)
    return {
        "crps_mm_per_day": float(judged.crps.mean()),
        **_skill("crpss_climatology", judged, rivals[CLIMATOLOGY], years),
        **_skill("crpss_persistence", judged, rivals[PERSISTENCE], years),
        **_of_spread(judged.spread, years),
        "nse_of_median": score.reason if score.value is None else score.value,
        "threshold_mm_per_day": threshold,
        **_of_warnings(judged.chance, observed > threshold),
    }


def _skill(name: str, judged: ForecastScores, rival: ForecastScores | Absent, years: Integers) -> dict[str, Any]:
    if not isinstance(rival, Absent) and not rival.crps.any():
        rival = absent(Reason.RIVAL_IS_PERFECT)
    if isinstance(rival, Absent):
        return dict.fromkeys(_with_ends(name), rival)
    own, others = _sums(years, judged.crps), _sums(years, rival.crps)
    return _estimate(name, own, others, lambda ratio: 1 - ratio)


def _by_month(
    judged: ForecastScores | Absent, climatology: ForecastScores | Absent, days: Days, lead: int
) -> tuple[MonthSkill, ...] | Absent:
    if isinstance(judged, Absent):
        return judged
    if isinstance(climatology, Absent):
        return climatology
    months = []
    for number in range(1, 13):
        of_month = month(days) == number
        years = _year_places(days[of_month])
        figures = _skill("crpss", judged.over(of_month), climatology.over(of_month), years) if len(years) else {}
        skill, low, high = (known(figures.get(name)) for name in _with_ends("crpss"))
        count, issues = int(of_month.sum()), independent_issues(days[of_month], lead)
        months.append(MonthSkill(number, count, _count(years), skill, low, high=high, independent_issues=issues))
    return tuple(months)


def _of_spread(spread: Spread | None, years: Integers) -> dict[str, Any]:
    if spread is None:
        names = (*_with_ends("coverage_90"), "coverage_50", "width_90_mm_per_day", "width_50_mm_per_day", "pit")
        return dict.fromkeys(names, absent(Reason.NO_DISTRIBUTION))
    return {
        **_estimate("coverage_90", _sums(years, spread.inside_90), _sums(years, np.ones_like(spread.width_90))),
        "coverage_50": float(spread.inside_50.mean()),
        "width_90_mm_per_day": float(spread.width_90.mean()),
        "width_50_mm_per_day": float(spread.width_50.mean()),
        "pit": pit_histogram(spread.pit),
    }


def _with_ends(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _estimate(
    name: str, numerator: Array, denominator: Array, meaning: Callable[[float], float] = lambda ratio: ratio
) -> dict[str, Any]:
    """Return a ratio of sums over water years, (years,), with the ends of its interval."""
    ends = ratio_interval(numerator, denominator)
    reason = absent(Reason.TOO_FEW_WATER_YEARS, years=len(numerator), minimum=MIN_YEARS)
    low, high = (reason, reason) if ends is None else sorted(map(meaning, ends))
    return dict(zip(_with_ends(name), (meaning(float(numerator.sum() / denominator.sum())), low, high), strict=True))


def pit_histogram(of_days: Array) -> tuple[float, ...]:
    """Return the number of days by tenth of their PIT (days, 2); a day with several is split among them."""
    low, high = of_days.T
    edges = np.arange(TENTHS + 1)[:, None] / TENTHS
    shared = np.maximum(np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1]), 0)
    certain = np.minimum((low * TENTHS).astype(int), TENTHS - 1) == np.arange(TENTHS)[:, None]
    width = np.where(high > low, high - low, 1.0)
    return tuple(np.where(high > low, shared / width, certain).sum(axis=1).tolist())


def _of_warnings(chance: Array, passed: Mask) -> dict[str, Any]:
    warned = chance >= WARNING_CHANCE
    hits, events, warnings, either = (int(days.sum()) for days in (warned & passed, passed, warned, warned | passed))
    return {
        "brier": float(((chance - passed) ** 2).mean()),
        "pod": hits / events if events else absent(Reason.NO_EVENT),
        "far": (warnings - hits) / warnings if warnings else absent(Reason.NO_WARNING),
        "csi": hits / either if either else absent(Reason.NO_EVENT_OR_WARNING),
        "reliability": Reliability.of(chance, passed),
    }
