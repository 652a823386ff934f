"""How far products of weather disagree about what falls in a month: Daymet and NLDAS beside Maurer.

Five real basins (FRESHET_CAMELS), the days that both products of a pair have: mean and standard deviation of the
logarithm of the ratio of months. `hydrology.weather.forecast_errors.MONTH_OF_RAIN` is of that size.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.weather.bridge import DAYMET, FOUR, LONG, MAURER, NLDAS, Gauge, gauge
from hydrology.weather.bridge import PRECIPITATION

MIN_DAYS = 28
MIN_RAIN = 10.0  # mm, of a month that is looked at


def measure() -> dict[str, Any]:
    """Return the monthly comparison, by basin and product."""
    gauges = {basin: gauge(basin) for basin in (LONG, *FOUR)}
    return {
        f"{basin}, {product}": _of_months(_ratios(of_basin, product))
        for basin, of_basin in gauges.items()
        for product in (DAYMET, NLDAS)
        if product in of_basin.weather
    }


def _of_months(ratios: npt.NDArray[np.float64]) -> dict[str, float]:
    logarithms = np.log(ratios)
    return {"months": len(ratios), "mean": float(logarithms.mean()), "sd": float(logarithms.std())}


def _ratios(of_basin: Gauge, product: str) -> npt.NDArray[np.float64]:
    """Return the precipitation of each month by a product over that of Maurer, (months,)."""
    ours, maurer = of_basin.weather[product], of_basin.weather[MAURER]
    period = ours.period.overlap(maurer.period)
    assert period is not None
    months = period.days.astype("datetime64[M]")
    pairs = np.stack([weather.over(period).values[PRECIPITATION] for weather in (ours, maurer)])
    sums = [pairs[:, months == month].sum(axis=1) for month in np.unique(months) if (months == month).sum() >= MIN_DAYS]
    return np.array([mine / theirs for mine, theirs in sums if np.isfinite(mine + theirs) and theirs >= MIN_RAIN])
