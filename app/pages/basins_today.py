"""The colour scales of the basins' numbers on the map of the first page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Literal

import numpy as np

from hydrology.base.arrays import Array
from hydrology.base.calendar import STALE_AFTER_DAYS
from records.outlooks.overview import BasinOverview

ColourBy = Literal["chance", "flow", "snow", "skill", "freshness"]
Palette = Literal["warning", "balance", "quality", "age"]
UNKNOWN = "unknown"
GREYS = ((UNKNOWN, "not known"), ("stale", "stale"), ("withheld", "withheld"), ("missing", "no forecast"))
"""The classes and labels of basins without a colour: why. All are grey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A colour scale of a number of a basin.

    Attributes:
        means: what it shows, in a sentence.
        palette: `warning`: from calm to alarming. `balance`: from too little to too much. `quality`: from bad to good.
            `age`: from new to old.
        edges: a value belongs to the class whose lower edge it has reached.
        labels: of the classes, one more than edges.
        value: of a basin; None where it is not known.
        of_forecast: whether the value is as old as the forecast: a stale one is grey.
    """

    title: str
    means: str
    palette: Palette
    edges: tuple[float, ...]
    labels: tuple[str, ...]
    value: Callable[[BasinOverview], float | None]
    write: Callable[[float], str]
    of_forecast: bool = True

    def colours(self, basins: Sequence[BasinOverview]) -> Array:
        """Return the place in `entries` of each basin's colour."""
        values = np.array([*map(self.value, basins)], dtype=np.float64)
        found = np.where(np.isnan(values), len(self.labels), np.searchsorted(self.edges, values, side="right"))
        if self.of_forecast:
            greys = {state: place for place, (state, _) in enumerate(GREYS, len(self.labels))}
            states = np.array([greys.get(state, -1) for state in map(attrgetter("state"), basins)], dtype=np.intp)
            found = np.where(states < 0, found, states)
        return found

    def written(self, basin: BasinOverview) -> str:
        value = self.value(basin)
        return "not known" if value is None else self.write(value)

    @property
    def entries(self) -> list[tuple[str, str]]:
        """The class and the label of each colour, and those of basins without one."""
        return [*((f"{self.palette}-{at}", label) for at, label in enumerate(self.labels)), *GREYS]


_of_normal = partial(
    Scale,
    palette="balance",
    edges=(50, 80, 125, 200),
    labels=("below 50 %", "50 to 80 %", "80 to 125 %", "125 to 200 %", "200 % and more"),
    write=lambda value: f"{value:.0f} %" if value < 1000 else "more than 1000 %",
)
SCALES: Mapping[ColourBy, Scale] = {
    "chance": Scale(
        title="Chance of passing a level",
        means="The highest calibrated chance that flow rises above one of the basin's levels in the next days.",
        palette="warning",
        edges=(0.05, 0.2, 0.5),
        labels=("below 5 %", "5 to 20 %", "20 to 50 %", "50 % and more"),
        value=attrgetter("chance"),
        write=lambda share: f"{100 * share:.0f} %",
    ),
    "flow": _of_normal(
        title="Flow against normal",
        means="The forecast flow of the next days in percent of the observed mean of the same days in all other years.",
        value=attrgetter("percent_of_normal"),
    ),
    "snow": _of_normal(
        title="Snow against normal",
        means="Water stored as snow at T0 in percent of the mean of the same day in all other years, as the model has "
        "both; without a colour where reference snow or Snow-17 lies outside the range of its members.",
        value=attrgetter("snow_percent"),
    ),
    "skill": Scale(
        title="Skill",
        means="Nash-Sutcliffe efficiency of the model on days held out of its training, which the list names: 1 is "
        "perfect, 0 no better than the mean.",
        palette="quality",
        edges=(0.3, 0.5, 0.7, 0.85),
        labels=("below 0.3", "0.3 to 0.5", "0.5 to 0.7", "0.7 to 0.85", "0.85 and more"),
        value=attrgetter("nse"),
        write=lambda nse: f"{nse:.2f}",
        of_forecast=False,
    ),
    "freshness": Scale(
        title="Freshness",
        means="How many days the last past day of weather behind the newest forecast, observed or filled, lies behind "
        f"the clock: stale after {STALE_AFTER_DAYS}.",
        palette="age",
        edges=(2, STALE_AFTER_DAYS + 1, 8),
        labels=(
            "1 day or less",
            f"2 to {STALE_AFTER_DAYS} days",
            f"stale, {STALE_AFTER_DAYS + 1} to 7 days",
            "stale, 8 days and more",
        ),
        value=attrgetter("weather_age_days"),
        write=lambda days: f"{days:.0f} {'day' if days == 1 else 'days'}",
        of_forecast=False,
    ),
}
