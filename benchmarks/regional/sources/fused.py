"""Weather of two products for one network, which sees both: its mass input is the mean of their precipitation.

Daymet's day ends at the hour of observation, Maurer's at midnight: in two of three basins Daymet's
precipitation of a day is closest to Maurer's of the day before. A basin's shift is chosen by correlation over the
training years. `early` moves Daymet's precipitation to Maurer's day, `late` Maurer's to Daymet's, `unshifted` none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from hydrology.base.calendar import Period
from hydrology.base.series import DailySeries, Flag
from ingestion.base import BasinData, SourceSeries
from ingestion.sources.camels import CamelsSource

PRECIPITATION = "precipitation"
OTHERS = ("srad", "tmax", "tmin", "vp")
MAURER, DAYMET = "maurer_extended", "daymet"
SHIFTS = ("early", "late", "unshifted")
BOTH = (*OTHERS, *(f"{name}_daymet" for name in OTHERS))
"""What a network sees besides rain: the means of both products, and Daymet's own."""
BOTH_RAINS = (*BOTH, "precipitation_maurer", "precipitation_daymet")


class FusedSource:
    """Flow and attributes of a source, with its Maurer and Daymet series as one product.

    Args:
        days: those that choose a basin's shift.
    """

    def __init__(self, source: CamelsSource, shift: str, days: str) -> None:
        self.source, self.shift, self.days = source, shift, Period.parse(days)

    def basins(self) -> list[str]:
        """Return the basins of the source."""
        return self.source.basins()

    def read(self, basin: str) -> BasinData:
        """Return a basin's data, its weather under the product `fused-SHIFT`, with Maurer's area."""
        data, product = self.source.read(basin), f"fused-{self.shift}"
        weather = {(one.product, one.variable): one for one in data.series}
        fused = [
            SourceSeries(product, name, daily, weather[MAURER, PRECIPITATION].file)
            for name, daily in self._fused({key: one.series for key, one in weather.items()}).items()
        ]
        others = [one for one in data.series if one.product not in (MAURER, DAYMET)]
        return replace(data, series=(*others, *fused), areas={**data.areas, product: data.areas[MAURER]})

    def _fused(self, weather: Mapping[tuple[str, str], DailySeries]) -> dict[str, DailySeries]:
        period = _shared([weather[product, PRECIPITATION].period for product in (MAURER, DAYMET)])
        maurer, daymet = (
            {name: weather[product, name].over(period) for name in (PRECIPITATION, *OTHERS)}
            for product in (MAURER, DAYMET)
        )
        first, second = maurer[PRECIPITATION].values.copy(), daymet[PRECIPITATION].values.copy()
        if self.shift != "unshifted" and _lags(first, second, period, self.days):
            if self.shift == "early":
                second[:-1] = second[1:].copy()
            else:
                first[1:] = first[:-1].copy()
        rains = {
            PRECIPITATION: (first + second) / 2,
            "precipitation_maurer": first,
            "precipitation_daymet": second,
        }
        fused = {name: _as(maurer[PRECIPITATION], values) for name, values in rains.items()}
        for name in OTHERS:
            fused[name] = _as(maurer[name], (maurer[name].values + daymet[name].values) / 2)
            fused[f"{name}_daymet"] = daymet[name]
        return fused


def _lags(maurer: np.ndarray, daymet: np.ndarray, record: Period, days: Period) -> bool:
    """Return whether Daymet's day t + 1 is closer to Maurer's day t than Daymet's day t is."""
    chosen = slice(int((days.first - record.first).astype(int)), int((days.last - record.first).astype(int)))
    same = np.corrcoef(maurer[chosen], daymet[chosen])[0, 1]
    shifted = slice(chosen.start + 1, chosen.stop + 1)
    return bool(np.corrcoef(maurer[chosen], daymet[shifted])[0, 1] > same)


def _shared(periods: Sequence[Period]) -> Period:
    return Period(max(one.first for one in periods), min(one.last for one in periods))


def _as(daily: DailySeries, values: np.ndarray) -> DailySeries:
    return DailySeries(
        daily.start, values.astype(np.float32), np.full(len(values), Flag.APPROVED, np.uint8), daily.unit
    )
