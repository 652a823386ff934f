"""A basin's climate by calendar month, for comparison with other weather."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Integers
from hydrology.base.calendar import Days, month

MIN_DAYS_OF_MONTH = 50
"""A calendar month with fewer known days has no climate."""
MAX_P_MEAN = 40.0
"""mm/day. The wettest place on Earth has 33: a larger `p_mean` must be in another unit, and is not used."""
_UNKNOWN = np.full(12, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class BasinClimate:
    """Monthly climate of a basin, (12,): mean precipitation in mm/day, median of the daily mean in degC.

    NaN where unknown; the source is as used in sentences: `the stored maurer_extended`.
    """

    source: str
    precipitation: Array
    temperature: Array

    @classmethod
    def of_record(cls, source: str, days: Days, values: Mapping[str, npt.NDArray[np.floating]]) -> Self:
        """Compute it from daily weather, (days,) by variable: precipitation, tmax, tmin."""
        missing = np.full(len(days), np.nan)
        of_month = month(days)
        tmax, tmin = (np.asarray(values.get(name, missing), np.float64) for name in ("tmax", "tmin"))
        rain = np.asarray(values.get("precipitation", missing), np.float64)
        return cls(source, _by_month(rain, of_month, np.mean), _by_month((tmax + tmin) / 2, of_month, np.median))

    @classmethod
    def of_attribute(cls, p_mean: float) -> Self | None:
        """Compute it from the attribute `p_mean`, mean precipitation in mm/day; None where it is impossible."""
        if not 0 < p_mean <= MAX_P_MEAN:
            return None
        return cls("the attribute p_mean", np.full(12, p_mean), _UNKNOWN)


def _by_month(values: Array, months: Integers, statistic: Callable[[Array], np.floating]) -> Array:
    result = np.full(12, np.nan)
    known = ~np.isnan(values)
    for number in range(12):
        those = values[known & (months == number + 1)]
        if len(those) >= MIN_DAYS_OF_MONTH:
            result[number] = statistic(those)
    return result
