"""Climate indices of a basin, as CAMELS defines them, from complete daily series.

Source: Addor et al. 2017, doi:10.5194/hess-21-5293-2017, table 2.
"""

from dataclasses import dataclass, fields

import numpy as np

from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Days, month
from hydrology.base.errors import DataProblem

_DAYS_PER_YEAR = 365.25
_SEASONS = ("djf", "mam", "jja", "son")


@dataclass(frozen=True, slots=True)
class ClimateIndices:
    """Indices named as in camels_clim.txt.

    Means in mm/day; `frac_snow` and `aridity` are ratios; frequencies in days/year, durations in days (0 without such
    days), timings are the season with most of them (None without any).
    """

    p_mean: float
    pet_mean: float
    p_seasonality: float
    frac_snow: float
    aridity: float
    high_prec_freq: float
    high_prec_dur: float
    high_prec_timing: str | None
    low_prec_freq: float
    low_prec_dur: float
    low_prec_timing: str | None


CLIMATE = tuple(field.name for field in fields(ClimateIndices) if not field.name.endswith("_timing"))
"""The numerical indices, which networks take as attributes."""


def climate_indices(precipitation: Array, temperature: Array, pet: Array, days: Days) -> ClimateIndices:
    """Compute the indices of one basin.

    Args:
        precipitation, pet: mm/day, shape (days,). temperature: daily mean in degC. days: consecutive.

    Raises:
        DataProblem: a value is missing, or it never rains.
    """
    if not all(np.isfinite(series).all() for series in (precipitation, temperature, pet)):
        raise DataProblem("Climate indices need complete series: choose a period without missing days.")
    mean = float(precipitation.mean()) if len(precipitation) else 0.0
    if mean <= 0:
        raise DataProblem("Climate indices need precipitation: there is none in the period.")
    high = _spells(precipitation >= 5 * mean, days)
    low = _spells(precipitation < 1, days)
    return ClimateIndices(
        mean,
        float(pet.mean()),
        seasonality(precipitation, temperature, days),
        float(precipitation[temperature < 0].sum() / precipitation.sum()),
        float(pet.mean()) / mean,
        *high,
        *low,
    )


def seasonality(precipitation: Array, temperature: Array, days: Days) -> float:
    """Return the seasonality of precipitation.

    Above 0 for summer peaks, below 0 for winter peaks.

    δ_P · sgn(Δ_T) · cos(2π (s_P - s_T)), from sine curves fitted to both by least squares.
    Source: Woods 2009, doi:10.1016/j.advwatres.2009.06.011.
    """
    january = days.astype("datetime64[Y]").astype("datetime64[D]")
    phase = 2 * np.pi * (days - january).astype(np.float64) / _DAYS_PER_YEAR
    basis = np.stack([np.ones_like(phase), np.sin(phase), np.cos(phase)], axis=1)
    p = np.linalg.lstsq(basis, precipitation)[0]
    t = np.linalg.lstsq(basis, temperature)[0]
    swing = float(np.hypot(t[1], t[2]))
    return float(p[1:] @ t[1:]) / (float(p[0]) * swing) if swing > 0 else 0.0


def _spells(of_kind: Mask, days: Days) -> tuple[float, float, str | None]:
    """Return frequency (days/year), mean duration (days) and season of days of a kind."""
    if not of_kind.any():
        return 0.0, 0.0, None
    spells = int((of_kind & ~np.concatenate([[False], of_kind[:-1]])).sum())
    counts = np.bincount(month(days[of_kind]) % 12 // 3, minlength=4)
    return float(of_kind.mean()) * _DAYS_PER_YEAR, float(of_kind.sum()) / spells, _SEASONS[int(counts.argmax())]
