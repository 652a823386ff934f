"""Verification result for one forecaster, lead time and season."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent

Array = npt.NDArray[np.float64]
Chosen = npt.NDArray[np.bool_]

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
    def of(cls, chance: Array, passed: Chosen, lowest: int = 1) -> Self:
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
