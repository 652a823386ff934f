"""Checks of daily weather: relations between variables, units, and the climate of the basin.

All input uses this one checker. An `error` is impossible in the stated unit, or far from the climate and explained by a
known mistake of units: the weather is refused. A `warning` is odd, and the weather is accepted. The bounds leave room
around every window of the extended Maurer and Daymet forcing of CAMELS; a rule states the number of days that it needs.
"""

from hydrology.base.findings import Finding
from hydrology.weather.checks import climate, precipitation, relations
from hydrology.weather.checks.daily_weather import CHECKED, DailyWeather, Rule

__all__ = ["CHECKED", "RULES", "DailyWeather", "Rule", "weather_findings"]

RULES: tuple[Rule, ...] = (*relations.RULES, *precipitation.RULES, *climate.RULES)


def weather_findings(weather: DailyWeather) -> list[Finding]:
    """Find the impossible (`error`) and the odd (`warning`) in daily weather."""
    return [finding for rule in RULES for finding in rule.check(weather)] if len(weather.days) else []
