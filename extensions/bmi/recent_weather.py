"""The weather of the last days, checked each day: one day alone shows few mistakes of units."""

from collections.abc import Mapping

import numpy as np
import structlog

from hydrology.base.calendar import Day
from hydrology.base.errors import InvalidInput
from hydrology.weather.basin_climate import BasinClimate
from hydrology.weather.checks import DailyWeather, weather_findings

DAYS = 366
EVERY_DAY_UNTIL, THEN_EVERY = 30, 30

log = structlog.get_logger()


class RecentWeather:
    """The last days of weather that a basin was given.

    Args:
        attributes: of the basin; `gauge_lat` and `p_mean` are used where they are there.
    """

    def __init__(self, attributes: Mapping[str, float]) -> None:
        self._latitude = attributes.get("gauge_lat")
        self._climate = BasinClimate.of_attribute(attributes.get("p_mean", np.nan))
        self._days: list[Day] = []
        self._values: dict[str, list[float]] = {}
        self._count, self._reported = 0, set[str]()

    def check(self, day: Day, weather: Mapping[str, float]) -> None:
        """Check a day with those before it: each of the first days, then every 30th. What is odd is logged once.

        Raises:
            InvalidInput: the weather cannot be in the expected units; the day is left out.
        """
        days = [*self._days, day][-DAYS:]
        values = {name: [*self._values.get(name, []), value][-DAYS:] for name, value in weather.items()}
        count = self._count + 1
        if count <= EVERY_DAY_UNTIL or count % THEN_EVERY == 0:
            arrays = {name: np.array(of_days) for name, of_days in values.items()}
            self._check(DailyWeather("the inputs", np.array(days), arrays, self._latitude, self._climate))
        self._days, self._values, self._count = days, values, count

    def _check(self, weather: DailyWeather) -> None:
        for finding in weather_findings(weather):
            if finding.severity == "error":
                raise InvalidInput(finding.sentence)
            if finding.code not in self._reported:
                self._reported.add(finding.code)
                log.warning("bmi.odd-weather", code=finding.code, sentence=finding.sentence)
