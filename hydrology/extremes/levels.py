"""Levels of a discharge record: floods, low flows and flow duration."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Days, Period, water_year
from hydrology.base.reasons import Reason
from hydrology.extremes import bulletin_17c, frequency
from hydrology.extremes.annual import Annual, Trend, annual_maxima, annual_minima, trend_of, without_trend
from hydrology.extremes.expected_moments import RegionalSkew
from hydrology.extremes.frequency import MIN_YEARS, FittedExtremes, FloodQuantile, Gev, Gpd, LogPearson3
from hydrology.extremes.partial_durations import partial_durations

Kind = Literal["frequent-flood", "flood", "low-flow", "flow-duration"]
Method = Literal["generalized-pareto", "gev", "bulletin-17c", "log-pearson-3", "share-of-days"]

FREQUENT_FLOOD_YEARS = (0.5, 1)
"""Return periods of frequent floods in years: twice a year, and once."""
FLOOD_YEARS = (2, 5, 10, 25, 50)
"""Return periods of flood levels in years."""
LOW_FLOW_YEARS = (2, 10)
EXCEEDED_PERCENT = (70, 90, 95)
"""Percentages of the days."""
OF_MODEL = "model-"
"""Prefix of the names of levels from a version's own simulation."""
WHAT: dict[Kind, str] = {
    "frequent-flood": "Independent floods of daily means above a threshold, at most three a water year on average "
    "(partial durations). A return period is the mean time between two of them, and not between years with one.",
    "flood": "Maxima of daily means, one a water year (October to September). They are not instantaneous peaks, which "
    "are higher.",
    "low-flow": "Minima of 7-day means, one a climatic year (April to March).",
    "flow-duration": "Daily means of the water years (October to September) that have enough days.",
}


@dataclass(frozen=True, slots=True)
class NamedLevel:
    """A level of a record, of a return period or exceeded on a percentage of the days; the other is None.

    Names are `pot-0.5`, `gev-10`, `lp3-10`, `7q10`, `exceeded-90`; unique within the basin.
    """

    name: str
    return_period_years: float | None
    exceeded_percent: int | None
    level: FloodQuantile


@dataclass(frozen=True, slots=True)
class Statistic:
    """Levels of one kind, by one method.

    Attributes:
        left_out_years: number of years that the record touches with too few days.
        dry_years: number of the `years` whose extreme is 0.
        low_outliers: number of small floods that count only as such, dry years included; None where nothing is tested.
        trend: of annual maxima; None of other values, and of fewer than three.
        fit: the distribution behind flood levels; None of others, and where nothing could be fitted.
    """

    kind: Kind
    method: Method
    years: int
    left_out_years: int
    dry_years: int
    period: Period | None
    levels: tuple[NamedLevel, ...]
    low_outliers: int | None = None
    trend: Trend | None = None
    fit: FittedExtremes | None = field(default=None, compare=False)

    @classmethod
    def of(cls, kind: Kind, method: Method, annual: Annual, levels: Iterable[NamedLevel]) -> Self:
        """Return levels with the years on which they are based."""
        return cls(
            kind=kind,
            method=method,
            years=len(annual),
            left_out_years=annual.left_out,
            dry_years=int((annual.values == 0).sum()),
            period=annual.period,
            levels=tuple(levels),
        )


@dataclass(frozen=True, slots=True)
class FloodFrequency:
    """How the floods of a basin are analysed.

    Without a regional skew the record's own counts alone. Adjusted floods have the last year's conditions, if their
    trend is significant.
    """

    regional: RegionalSkew | None = None
    trend_adjusted: bool = False

    @property
    def method(self) -> Method:
        """The method of the floods that chances and alerts are of: Bulletin 17C where a regional skew is set for it."""
        return "gev" if self.regional is None else "bulletin-17c"

    def compares(self, statistic: Statistic) -> bool:
        """Return whether floods are by the other method, which is for comparison alone."""
        return statistic.kind == "flood" and statistic.method != self.method


BY_DEFAULT = FloodFrequency()


def of_record(
    flow: npt.ArrayLike, days: Days, *, intervals: bool = True, floods: FloodFrequency = BY_DEFAULT
) -> list[Statistic]:
    """Return the levels of consecutive days of flow in any unit, NaN where missing.

    Intervals take most of the time; without them, floods are by their method alone, and not by the other to compare.
    """
    flow = np.asarray(flow, dtype=np.float64)
    maxima, minima = annual_maxima(flow, days), annual_minima(flow, days)
    at = (maxima.days - days[:1]).astype(np.int64)
    used = flow[at]
    low = frequency.levels(minima.values, [1 / years for years in LOW_FLOW_YEARS], LogPearson3, intervals=intervals)
    counted = np.full(len(flow), np.nan)
    counted[at] = used
    return [
        _frequent_floods(maxima, counted, intervals),
        *_floods(maxima, floods, intervals),
        Statistic.of("low-flow", "log-pearson-3", minima, _named("7q", LOW_FLOW_YEARS, low)),
        Statistic.of("flow-duration", "share-of-days", maxima, _durations(maxima, used)),
    ]


def names() -> list[str]:
    """Return the names of all possible levels of a record; a version's own have the prefix `OF_MODEL`."""
    return [level.name for statistic in of_record([], np.empty(0, "datetime64[D]")) for level in statistic.levels]


def _frequent_floods(maxima: Annual, flow: Array, intervals: bool) -> Statistic:
    years, fitted = len(maxima), None
    found: list[FloodQuantile] = [frequency.too_short(years)] * len(FREQUENT_FLOOD_YEARS)
    if years >= MIN_YEARS:
        peaks = partial_durations(flow, years)
        expected = [peaks.per_year * period for period in FREQUENT_FLOOD_YEARS]
        chances = [1 - 1 / number for number in expected if number > 1]
        by_gpd = frequency.levels(peaks.heights, chances, Gpd, intervals=intervals)
        too_few = absent(Reason.TOO_FEW_FLOODS, floods=len(peaks.heights), years=years)
        lacking = [FloodQuantile(None, None, None, too_few)] * (len(expected) - len(chances))
        found = [*lacking, *(level.above(peaks.threshold) for level in by_gpd)]
        if chances and frequency.levels_without_fit(peaks.heights, chances) is None:
            of_heights = frequency.fit(peaks.heights, Gpd)
            fitted = replace(of_heights, threshold=peaks.threshold, per_year=peaks.per_year)
    levels = _named("pot-", FREQUENT_FLOOD_YEARS, found)
    return replace(Statistic.of("frequent-flood", "generalized-pareto", maxima, levels), fit=fitted)


def _floods(maxima: Annual, asked: FloodFrequency, intervals: bool) -> Iterator[Statistic]:
    years = np.unique(water_year(maxima.days))
    trend = trend_of(maxima.values, years, adjust=asked.trend_adjusted)
    values = without_trend(maxima.values, years) if trend is not None and trend.adjusted else maxima.values
    chances = [1 - 1 / years for years in FLOOD_YEARS]
    dry: Sequence[FloodQuantile] = ()
    if len(values) >= MIN_YEARS and not values.any():
        dry = [FloodQuantile(None, None, None, absent(Reason.DRY_IN_EVERY_YEAR, years=len(values)))] * len(FLOOD_YEARS)
    is_fitted = frequency.levels_without_fit(values, chances) is None
    if intervals or asked.method == "gev":
        by_gev = dry or frequency.levels(values, chances, Gev, intervals=intervals)
        statistic = Statistic.of("flood", "gev", maxima, _named("gev-", FLOOD_YEARS, by_gev))
        yield replace(statistic, trend=trend, fit=frequency.fit(values, Gev) if is_fitted else None)
    if intervals or asked.method == "bulletin-17c":
        by_bulletin = dry or bulletin_17c.levels(values, chances, asked.regional, intervals=intervals)
        outliers = bulletin_17c.smallest_used(values)[0] if is_fitted else None
        fitted = bulletin_17c.fitted_extremes(values, asked.regional) if is_fitted else None
        statistic = Statistic.of("flood", "bulletin-17c", maxima, _named("lp3-", FLOOD_YEARS, by_bulletin))
        yield replace(statistic, trend=trend, low_outliers=outliers, fit=fitted)


def _named(prefix: str, periods: Iterable[float], levels: Iterable[FloodQuantile]) -> Iterator[NamedLevel]:
    for years, level in zip(periods, levels, strict=True):
        yield NamedLevel(f"{prefix}{years}", years, None, level)


def _durations(maxima: Annual, flow: Array) -> Iterator[NamedLevel]:
    """Yield the flows exceeded on a share of the days, by Weibull's plotting positions m / (n + 1)."""
    known = flow[~np.isnan(flow)]
    for percent in EXCEEDED_PERCENT:
        if len(maxima) < MIN_YEARS:
            level = frequency.too_short(len(maxima))
        else:
            exceeded = float(np.quantile(known, 1 - percent / 100, method="weibull"))
            level = FloodQuantile(exceeded, None, None, absent(Reason.SHARE_WITHOUT_INTERVAL))
        yield NamedLevel(f"exceeded-{percent}", None, percent, level)
