"""Levels of a discharge record: floods, low flows and flow duration."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import Days, Period
from hydrology.base.reasons import Reason
from hydrology.extremes.annual import Annual, annual_maxima, annual_minima
from hydrology.extremes.distributions import Distribution, Gev, LogPearson3
from hydrology.extremes.frequency import MIN_YEARS, Level, levels, too_short

Kind = Literal["flood", "low-flow", "flow-duration"]
Method = Literal["gev", "log-pearson-3", "share-of-days"]

FLOOD_YEARS = (2, 5, 10, 25, 50)
"""Return periods of flood levels in years."""
LOW_FLOW_YEARS = (2, 10)
EXCEEDED_PERCENT = (70, 90, 95)
"""Percentages of the days."""
OF_MODEL = "model-"
"""Prefix of the names of levels from a version's own simulation."""
WHAT: dict[Kind, str] = {
    "flood": "Maxima of daily means, one a water year (October to September). They are not instantaneous peaks, which "
    "are higher.",
    "low-flow": "Minima of 7-day means, one a climatic year (April to March).",
    "flow-duration": "Daily means of the water years (October to September) that have enough days.",
}


@dataclass(frozen=True, slots=True)
class NamedLevel:
    """A level of a record.

    Attributes:
        name: `gev-10`, `lp3-10`, `7q10`, `exceeded-90`; unique within the basin.
        return_period_years: None for a share of the days.
        exceeded_percent: percentage of the days with a higher flow; None for a return period.
        level: in the unit of the record.
    """

    name: str
    return_period_years: int | None
    exceeded_percent: int | None
    level: Level


@dataclass(frozen=True, slots=True)
class Statistic:
    """Levels of one kind, by one method.

    Attributes:
        years: number of years with enough days, on which they are based.
        left_out_years: number of years that the record touches with too few days.
        dry_years: number of these years whose extreme is 0.
        period: of these years (`Annual.period`).
    """

    kind: Kind
    method: Method
    years: int
    left_out_years: int
    dry_years: int
    period: Period | None
    levels: tuple[NamedLevel, ...]

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


def of_record(flow: npt.ArrayLike, days: Days, *, intervals: bool = True) -> list[Statistic]:
    """Return the levels of a record.

    Args:
        flow: shape (days,), in any unit, NaN where missing, none below 0.
        days: consecutive days.
        intervals: whether to compute intervals, which take nearly all of the time.
    """
    flow = np.asarray(flow, dtype=np.float64)
    maxima, minima = annual_maxima(flow, days), annual_minima(flow, days)
    return [
        Statistic.of("flood", "gev", maxima, _floods(maxima, "gev", Gev, intervals)),
        Statistic.of("flood", "log-pearson-3", maxima, _floods(maxima, "lp3", LogPearson3, intervals)),
        Statistic.of("low-flow", "log-pearson-3", minima, _low_flows(minima, intervals)),
        Statistic.of("flow-duration", "share-of-days", maxima, _durations(maxima, flow[np.isin(days, maxima.days)])),
    ]


def names() -> list[str]:
    """Return the names of all possible levels of a record; a version's own have the prefix `OF_MODEL`."""
    return [level.name for statistic in of_record([], np.empty(0, "datetime64[D]")) for level in statistic.levels]


def _floods(maxima: Annual, prefix: str, distribution: type[Distribution], intervals: bool) -> Iterator[NamedLevel]:
    if len(maxima) >= MIN_YEARS and not maxima.values.any():
        flooded = [Level(None, None, None, absent(Reason.DRY_IN_EVERY_YEAR, years=len(maxima)))] * len(FLOOD_YEARS)
    else:
        flooded = levels(maxima.values, [1 - 1 / years for years in FLOOD_YEARS], distribution, intervals=intervals)
    for years, level in zip(FLOOD_YEARS, flooded, strict=True):
        yield NamedLevel(f"{prefix}-{years}", years, None, level)


def _low_flows(minima: Annual, intervals: bool) -> Iterator[NamedLevel]:
    low = levels(minima.values, [1 / years for years in LOW_FLOW_YEARS], LogPearson3, intervals=intervals)
    for years, level in zip(LOW_FLOW_YEARS, low, strict=True):
        yield NamedLevel(f"7q{years}", years, None, level)


def _durations(maxima: Annual, flow: Array) -> Iterator[NamedLevel]:
    """Yield the flows exceeded on a share of the days, by Weibull's plotting positions m / (n + 1)."""
    known = flow[~np.isnan(flow)]
    for percent in EXCEEDED_PERCENT:
        if len(maxima) < MIN_YEARS:
            level = too_short(len(maxima))
        else:
            exceeded = float(np.quantile(known, 1 - percent / 100, method="weibull"))
            level = Level(exceeded, None, None, absent(Reason.SHARE_WITHOUT_INTERVAL))
        yield NamedLevel(f"exceeded-{percent}", None, percent, level)
