"""Scores of each forecast against observations, and the result for one forecaster, lead time and season."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, Self

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array, Mask
from hydrology.scores.probabilistic import crps, exceedance_probability, pit

HIGH_SHARE = 0.02
"""Share of a period's observed days with the highest flow: the threshold of warnings."""


def high_flow(observed: Array) -> float:
    """Return the flow that 2 % of the days exceed, NaN where not observed."""
    return float(np.nanquantile(observed, 1 - HIGH_SHARE))


@dataclass(frozen=True, slots=True)
class Spread:
    """Scores of a distribution by day: PIT (days, 2) as in `probabilistic.pit`, the others (days,).

    Whether the central intervals contain the observation, and their widths in mm/day.
    """

    pit: Array
    inside_90: Mask
    inside_50: Mask
    width_90: Array
    width_50: Array

    @classmethod
    def of(cls, quantiles: Array, levels: Sequence[float], observed: Array) -> Self:
        """Compute it from quantiles (days, levels)."""
        low_90, low_50, high_50, high_90 = (quantiles[:, levels.index(level)] for level in (0.05, 0.25, 0.75, 0.95))
        return cls(
            pit(quantiles, levels, observed),
            (low_90 <= observed) & (observed <= high_90),
            (low_50 <= observed) & (observed <= high_50),
            high_90 - low_90,
            high_50 - low_50,
        )

    def over(self, days: Mask) -> "Spread":
        """Return it for some of the days."""
        return Spread(*(getattr(self, field.name)[days] for field in fields(self)))


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """The scores of each forecast of one forecaster, (days,) each: median and CRPS in mm/day.

    `chance` is that of passing the threshold; `spread` is None where the forecaster gives one flow.
    """

    median: Array
    crps: Array
    chance: Array
    spread: Spread | None

    @classmethod
    def of_quantiles(cls, quantiles: Array, levels: Sequence[float], observed: Array, threshold: float) -> Self:
        """Score quantiles (days, levels) against observations (days,), all in mm/day."""
        return cls(
            quantiles[:, levels.index(0.5)],
            crps(quantiles, levels, observed),
            exceedance_probability(quantiles, levels, threshold),
            Spread.of(quantiles, levels, observed),
        )

    @classmethod
    def of_flow(cls, flow: Array, observed: Array, threshold: float) -> Self:
        """Score one flow per day (days,), whose CRPS is its absolute error."""
        return cls(flow, np.abs(flow - observed), (flow > threshold).astype(float), None)

    def over(self, days: Mask) -> "ForecastScores":
        """Return it for some of the days."""
        spread = None if self.spread is None else self.spread.over(days)
        return ForecastScores(self.median[days], self.crps[days], self.chance[days], spread)


WARNING_CHANCE = 0.5
"""A forecast warns where its probability of passing the threshold is at least this."""
TENTHS = 10
"""Bins of the PIT and of the probabilities."""
Season = Literal["all", "DJF", "MAM", "JJA", "SON"]
ALL_YEAR: Season = "all"
SEASONS: Mapping[Season, Sequence[int]] = {
    ALL_YEAR: range(1, 13),
    "DJF": (12, 1, 2),
    "MAM": (3, 4, 5),
    "JJA": (6, 7, 8),
    "SON": (9, 10, 11),
}
"""The months of each season."""


@dataclass(frozen=True, slots=True)
class Reliability:
    """Observed frequency of passing the threshold by forecast probability, of the tenths with data, in order.

    `forecast` is the mean probability, `observed` the share of the `days` on which it was passed.
    """

    forecast: tuple[float, ...]
    observed: tuple[float, ...]
    days: tuple[int, ...]

    @classmethod
    def of(cls, chance: Array, passed: Mask, lowest: int = 1) -> Self:
        """Compute it from days, without tenths that have fewer than `lowest`."""
        tenth = np.minimum((chance * TENTHS).astype(int), TENTHS - 1)
        shown = [at for at in (tenth == number for number in range(TENTHS)) if at.sum() >= lowest]
        return cls(
            tuple(float(chance[at].mean()) for at in shown),
            tuple(float(passed[at].mean()) for at in shown),
            tuple(int(at.sum()) for at in shown),
        )


@dataclass(frozen=True, slots=True)
class MonthSkill:
    """CRPS skill against climatology on the forecast days of a calendar month; None where it is not defined.

    Attributes:
        years: number of their water years.
        low, high: ends of its 95 % interval; None with too few water years.
        independent_issues: number of forecasts that share no day; None where it was stored before they were counted.
    """

    month: int
    n: int
    years: int
    crpss: float | None
    low: float | None
    high: float | None
    independent_issues: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Verification result for one forecaster, lead time and season.

    Attributes:
        years: number of the forecasts' water years.
        independent_issues: number of forecasts whose lead windows share no day (`independent_issues`).
        crpss_climatology, crpss_persistence: 1 less its CRPS over that of the rival; with the ends of the 95 % interval
            from drawing water years again.
        coverage_90, coverage_50: share of the days in the central interval, with such ends; `width_…`: its width.
        threshold_mm_per_day: the flow of warnings.
        brier: mean squared error of the probability of passing it.
        pod, far, csi: probability of detection, false alarm ratio and critical success index of warnings at a
            probability of `WARNING_CHANCE`.
        pit: number of days by tenth of their PIT; a day with several possible values is split among them.
        months: skill by month; of the whole year alone.
        missing: why an attribute is None, by its name.
    """

    n: int
    years: int
    independent_issues: int | None
    crps_mm_per_day: float | None
    crpss_climatology: float | None
    crpss_climatology_low: float | None
    crpss_climatology_high: float | None
    crpss_persistence: float | None
    crpss_persistence_low: float | None
    crpss_persistence_high: float | None
    coverage_90: float | None
    coverage_90_low: float | None
    coverage_90_high: float | None
    coverage_50: float | None
    width_90_mm_per_day: float | None
    width_50_mm_per_day: float | None
    nse_of_median: float | None
    threshold_mm_per_day: float | None
    brier: float | None
    pod: float | None
    far: float | None
    csi: float | None
    pit: tuple[float, ...] | None
    reliability: Reliability | None
    months: tuple[MonthSkill, ...] | None
    missing: Mapping[str, Absent]

    @classmethod
    def of(cls, n: int, years: int, independent_issues: int, figures: Mapping[str, Any]) -> Self:
        """Create it from its values, or the reasons for missing ones, by name."""
        missing = {name: figure for name, figure in figures.items() if isinstance(figure, Absent)}
        known = {name: None if name in missing else figure for name, figure in figures.items()}
        return cls(n=n, years=years, independent_issues=independent_issues, missing=missing, **known)
