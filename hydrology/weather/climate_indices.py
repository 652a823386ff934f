"""Climate indices of a basin, as CAMELS defines them, from complete daily series.

Source: Addor et al. 2017, doi:10.5194/hess-21-5293-2017, table 2.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Days, day_of_year, month
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
    """Compute the indices from precipitation and PET (mm/day) and mean temperature (degC) of complete series."""
    if not all(np.isfinite(series).all() for series in (precipitation, temperature, pet)):
        raise DataProblem("Climate indices need complete series: choose a period without missing days.")
    mean = float(precipitation.mean()) if len(precipitation) else 0.0
    if mean <= 0:
        raise DataProblem("Climate indices need precipitation: there is none in the period.")
    return ClimateIndices(
        p_mean=mean,
        pet_mean=float(pet.mean()),
        p_seasonality=seasonality(precipitation, temperature, days),
        frac_snow=float(precipitation[temperature < 0].sum() / precipitation.sum()),
        aridity=float(pet.mean()) / mean,
        **_spells("high_prec", precipitation >= 5 * mean, days),
        **_spells("low_prec", precipitation < 1, days),
    )


def seasonality(precipitation: Array, temperature: Array, days: Days) -> float:
    """Return the seasonality of precipitation, above 0 for summer peaks, below 0 for winter peaks.

    δ_P · sgn(Δ_T) · cos(2π (s_P - s_T)), from sine curves fitted to both by least squares.
    Source: Woods 2009, doi:10.1016/j.advwatres.2009.06.011.
    """
    phase = 2 * np.pi * (day_of_year(days) - 1) / _DAYS_PER_YEAR
    basis = np.stack([np.ones_like(phase), np.sin(phase), np.cos(phase)], axis=1)
    p, t = (np.linalg.lstsq(basis, values)[0] for values in (precipitation, temperature))
    swing = float(np.hypot(t[1], t[2]))
    return float(p[1:] @ t[1:]) / (float(p[0]) * swing) if swing > 0 else 0.0


def _spells(name: str, of_kind: Mask, days: Days) -> dict[str, Any]:
    """Return frequency (days/year), mean duration (days) and season of days of a kind, by index."""
    frequency, duration, season = 0.0, 0.0, None
    if of_kind.any():
        spells = int((of_kind & ~np.concatenate([[False], of_kind[:-1]])).sum())
        frequency, duration = float(of_kind.mean()) * _DAYS_PER_YEAR, float(of_kind.sum()) / spells
        season = _SEASONS[int(np.bincount(month(days[of_kind]) % 12 // 3, minlength=4).argmax())]
    return {f"{name}_freq": frequency, f"{name}_dur": duration, f"{name}_timing": season}
