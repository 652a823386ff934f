"""Daily weather to check."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Days, Period
from hydrology.base.errors import Finding
from hydrology.base.products import WEATHER
from hydrology.base.series import DailySeries
from hydrology.weather.climate import BasinClimate

CHECKED = ("precipitation", "tmax", "tmin", "tmean", "srad", "vp", "daylength")
"""The variables that are checked."""


@dataclass(frozen=True, slots=True, eq=False)
class DailyWeather:
    """Weather of a basin to check; latitude (degrees) and climate are None where unknown.

    Attributes:
        days: (days,), in order; they may have gaps.
        values: (days,) or (traces, days) by variable, in the units of `hydrology.base.products`; NaN where missing.
    """

    name: str
    days: Days
    values: Mapping[str, npt.NDArray[np.floating]]
    latitude: float | None = None
    climate: BasinClimate | None = None

    @classmethod
    def of_series(
        cls, name: str, series: Mapping[str, DailySeries], latitude: float | None, climate: BasinClimate | None
    ) -> Self:
        """Return the series by variable as weather over all their days. Series in another unit are left out."""
        used = {
            variable: daily
            for variable, daily in series.items()
            if variable in CHECKED and len(daily) and daily.unit == WEATHER[variable].unit
        }
        if not used:
            return cls(name, np.array([], "datetime64[D]"), {}, latitude, climate)
        ends = [daily.period for daily in used.values()]
        period = Period(min(end.first for end in ends), max(end.last for end in ends))
        values = {variable: daily.over(period).values for variable, daily in used.items()}
        return cls(name, period.days, values, latitude, climate)

    def of(self, *variables: str) -> list[Array] | None:
        """Return variables (traces, days), NaN where any is missing. Return None where no day has all of them."""
        if any(name not in self.values for name in variables):
            return None
        arrays = [np.atleast_2d(np.asarray(self.values[name], np.float64)) for name in variables]
        missing = np.isnan(np.stack(np.broadcast_arrays(*arrays))).any(axis=0)
        if missing.all():
            return None
        return [np.where(missing, np.nan, array) for array in arrays]

    def finding(self, code: str, variable: str, bad: Mask, sentence: str, remedy: str | None = None) -> Finding:
        """Return a warning, with a `remedy` an error: the variable's name, `sentence`, remedy and the first bad value.

        Bad values are (traces, days).
        """
        values = np.atleast_2d(self.values[variable])
        place = np.flatnonzero(bad.any(axis=0))
        at = int(place[0]) if len(place) else 0
        value = float(values[int(bad[:, at].argmax()), at])
        first, unit = str(self.days[at]), WEATHER[variable].unit
        text = f"{variable} of {self.name} {sentence}{remedy or ''} (first on {first}: {value:.4g} {unit})."
        detail = {"product": self.name, "variable": variable, "first": first, "value": value, "days": len(self.days)}
        return Finding(code, "warning" if remedy is None else "error", text, detail)


Check = Callable[[DailyWeather], Iterator[Finding]]
