"""Scores of each forecast against observations, and the result for one forecaster, lead time and season."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, Self

import numpy as np

from hydrology.base.absent import Absent
from hydrology.base.arrays import Array, Mask
from hydrology.base.doc import Doc
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
INDEPENDENT = (
    "Number of forecasts that share no day with one another: the largest number whose days after T0, up to this lead, "
    "do not overlap. Null where it was verified before they were counted."
)
_CRPSS_CLIMATOLOGY = "1 less the CRPS over that of climatology; 1 is perfect, 0 no better."
_LOWER, _UPPER = (Doc(f"The {end} end of its 95 % interval, from resampled water years.") for end in ("lower", "upper"))


@dataclass(frozen=True, slots=True)
class Reliability:
    """Reliability of the chance of passing the threshold, by tenths of the forecast chance.

    Of the tenths with data, in order.
    """

    forecast: Annotated[tuple[float, ...], Doc("The mean chance in each tenth.")]
    observed: Annotated[tuple[float, ...], Doc("Share of these days on which the threshold was passed.")]
    days: Annotated[tuple[int, ...], Doc("Number of these days.")]

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
    """Skill against climatology on the forecast days of a calendar month."""

    month: int
    n: Annotated[int, Doc("Number of forecasts.")]
    years: Annotated[int, Doc("Number of their water years.")]
    crpss: Annotated[float | None, Doc(f"{_CRPSS_CLIMATOLOGY} Null without a forecast.")]
    low: Annotated[float | None, Doc("The lower end of its 95 % interval; null with too few water years.")]
    high: Annotated[float | None, Doc("The upper end.")]
    independent_issues: Annotated[int | None, Doc(INDEPENDENT)] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """Verification result for one forecaster, lead time and season; `missing` is why an attribute is None.

    Intervals are from drawing water years again. A warning is a probability of at least `WARNING_CHANCE`.
    """

    n: Annotated[int, Doc("Number of forecasts: those with observed flow on T0 and on the valid day.")]
    years: Annotated[int, Doc("Number of water years.")]
    independent_issues: Annotated[int | None, Doc(INDEPENDENT)]
    crps_mm_per_day: Annotated[float | None, Doc("Mean continuous ranked probability score, mm/day; 0 is perfect.")]
    crpss_climatology: Annotated[float | None, Doc(_CRPSS_CLIMATOLOGY)]
    crpss_climatology_low: Annotated[float | None, _LOWER]
    crpss_climatology_high: Annotated[float | None, _UPPER]
    crpss_persistence: Annotated[
        float | None, Doc("1 less the CRPS over that of persistence; 1 is perfect, 0 no better.")
    ]
    crpss_persistence_low: Annotated[float | None, _LOWER]
    crpss_persistence_high: Annotated[float | None, _UPPER]
    coverage_90: Annotated[
        float | None, Doc("Share of days within the interval from the 5 % to the 95 % quantile; 0.9 is right.")
    ]
    coverage_90_low: Annotated[float | None, _LOWER]
    coverage_90_high: Annotated[float | None, _UPPER]
    coverage_50: Annotated[
        float | None, Doc("Share of days within the interval from the 25 % to the 75 % quantile; 0.5 is right.")
    ]
    width_90_mm_per_day: Annotated[float | None, Doc("Mean width of the 90 % interval, mm/day.")]
    width_50_mm_per_day: Annotated[float | None, Doc("Mean width of the 50 % interval, mm/day.")]
    nse_of_median: Annotated[float | None, Doc("Nash-Sutcliffe efficiency of the median; 1 is perfect.")]
    threshold_mm_per_day: Annotated[
        float | None,
        Doc(
            "The threshold: the flow exceeded on 2 % of the observed days, mm/day: in the period, or, for issued "
            "forecasts, in the whole record."
        ),
    ]
    brier: Annotated[
        float | None,
        Doc("Brier score, the mean squared error of the exceedance probability of the threshold; 0 is perfect."),
    ]
    pod: Annotated[
        float | None,
        Doc(
            "Probability of detection: of the days that passed the threshold, the share that was warned of, at a "
            "chance of 50 % or more."
        ),
    ]
    far: Annotated[
        float | None,
        Doc("False alarm ratio: of the days that were warned of, the share that did not pass the threshold."),
    ]
    csi: Annotated[
        float | None,
        Doc("Critical success index: of the days that passed the threshold or were warned of, the share that is both."),
    ]
    pit: Annotated[
        tuple[float, ...] | None,
        Doc(
            "Number of days in each tenth of the probability integral transform: equal if the forecasts are reliable. "
            "A day whose observation equals several quantiles is shared among their tenths."
        ),
    ]
    reliability: Reliability | None
    months: Annotated[
        tuple[MonthSkill, ...] | None, Doc("By calendar month, January first; of the season `all` alone.")
    ]
    missing: Mapping[str, Absent]

    @classmethod
    def of(cls, n: int, years: int, independent_issues: int, figures: Mapping[str, Any]) -> Self:
        """Create it from its values, or the reasons for missing ones, by name."""
        missing = {name: figure for name, figure in figures.items() if isinstance(figure, Absent)}
        known = {name: None if name in missing else figure for name, figure in figures.items()}
        return cls(n=n, years=years, independent_issues=independent_issues, missing=missing, **known)
