"""Weather of days ahead that a run took from elsewhere, because it was not observed in time or not forecast."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from hydrology.base.calendar import Day, day, days_between
from records.database.json_columns import CLOSED

WeatherSource = Literal["product", "bridge", "forecast", "climatology"]
"""Source of a day's weather. `product`: observed, in the version's product. `bridge`: observed, in another product
through its bridge. `forecast`: a weather forecast. `climatology`: other years."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Where weather comes from.

    Attributes:
        id: of the weather forecast or of the bridge; None for the others.
        name: the product, or the weather model; None for other years.
        reference_day: of the weather forecast; None for the others.
    """

    source: WeatherSource
    id: str | None = None
    name: str | None = None
    reference_day: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilledWeather(Origin):
    """The source of some variables on consecutive days.

    Attributes:
        first, last: the days.
        correlations: expected skill: the correlation of normal scores with the weather that comes
            (`hydrology.weather.forecast_errors`), by variable, for each of the days.
    """

    __pydantic_config__ = CLOSED

    first: str
    last: str
    correlations: dict[str, list[float]]

    @property
    def origin(self) -> Origin:
        """Where it comes from."""
        return Origin(source=self.source, id=self.id, name=self.name, reference_day=self.reference_day)

    def days_from(self, first: Day) -> slice:
        """Return the days as a slice of days that begin with the first."""
        return slice(days_between(first, day(self.first)), days_between(first, day(self.last)) + 1)


def sources_only(filled: Iterable[FilledWeather]) -> list[list[str | None]]:
    """Return the days, variables and sources of filled weather, without the skill expected of it."""
    return [[of.first, of.last, of.source, of.id, of.name, of.reference_day, *sorted(of.correlations)] for of in filled]
