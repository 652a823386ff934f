"""The skill expected of weather that was filled from other sources."""

from collections.abc import Sequence

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.calendar import Day
from records.runs.run_weather import FilledWeather


def with_skill(correlation: Array, filled: Sequence[FilledWeather], first: Day, names: Sequence[str]) -> Array:
    """Return the correlation of weather with that which comes, (days, variables), with that of filled days.

    Args:
        correlation: of the weather forecast.
        first: the first of the days.
    """
    expected = np.array(correlation)
    for label in filled:
        for name, values in label.correlations.items():
            expected[label.days_from(first), names.index(name)] = values
    return expected
