"""The daily weather of basins from their means over spans of time: by calendar days at the gauge, in our units."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC

import numpy as np

from extensions.grid.days import Steps, seconds
from extensions.grid.quantities import (
    DEW_POINT,
    PRECIPITATION,
    RADIATION,
    TEMPERATURE,
    TMAX,
    TMIN,
    VAPOUR_PRESSURE,
)
from hydrology.base.arrays import Array
from hydrology.base.calendar import Days, begin_of, zone_of_longitude
from hydrology.base.products import IN_DEGREES
from hydrology.base.units import J_PER_MJ, daylight_mean
from hydrology.weather.climate import daylength, saturation_vapour_pressure
from ingestion.feeds.base import Site
from ingestion.netcdf import Instants

LAPSE_RATE = 0.0065
"""K per m of height, as in the standard atmosphere [ISO 2533:1975]."""
_LONGEST = 6 * 3_600  # s, of the spans of a temperature that stands for the highest and lowest of a day
_ONE_DAY = 86_400
_SOURCES = {
    "precipitation": ((PRECIPITATION, "sum"),),
    "tmax": ((TMAX, "max"), (TEMPERATURE, "max")),
    "tmin": ((TMIN, "min"), (TEMPERATURE, "min")),
    "tmean": ((TEMPERATURE, "mean"),),
    "srad": ((RADIATION, "sum"),),
    "vp": ((VAPOUR_PRESSURE, "mean"), (DEW_POINT, "mean")),
}
"""Of which quantity, and how, each of our variables is; the first that a grid has."""


@dataclass(frozen=True, slots=True)
class BasinDays:
    """The weather of a basin, values (members, days) by variable in our units; NaN where a day is not whole."""

    members: tuple[str, ...]
    days: Days
    values: Mapping[str, Array]


def basin_days(sites: Sequence[Site], by_quantity: Mapping[str, Steps], heights: Array) -> list[BasinDays]:
    """Return the weather of each basin; `heights` (basins,) are those of the grid, m, NaN where not known."""
    zones = [site.time_zone or zone_of_longitude(site.longitude or 0) for site in sites]
    if all(_are_days(one.spans) for one in by_quantity.values()):
        zones = ["UTC"] * len(sites)  # days of the source's own, which stand for those of the gauge
    result: dict[int, BasinDays] = {}
    for zone in dict.fromkeys(zones):
        places = [at for at, of in enumerate(zones) if of == zone]
        days, members, values = _days(by_quantity, places, zone)
        lit = daylength(days, np.array([sites[at].place()[0] for at in places]))
        above = np.nan_to_num([(sites[at].elevation or np.nan) - heights[at] for at in places])
        for name in values.keys() & {*IN_DEGREES}:
            values[name] -= LAPSE_RATE * above
        if RADIATION in values:
            values[RADIATION] = daylight_mean(values[RADIATION] / J_PER_MJ, lit)
        for number, at in enumerate(places):
            result[at] = BasinDays(members, days, {name: array[..., number] for name, array in values.items()})
    return [result[at] for at in range(len(sites))]


def _are_days(spans: Instants) -> bool:
    begins = spans[:, 0]
    return bool((seconds(np.diff(spans)) == _ONE_DAY).all() and (begins == begins.astype("datetime64[D]")).all())


def _days(
    by_quantity: Mapping[str, Steps], places: Sequence[int], zone: str
) -> tuple[Days, tuple[str, ...], dict[str, Array]]:
    """Return the days of a time zone that the spans touch, the members of all quantities, and their values."""
    first, last = (
        bound.astype("datetime64[D]") + shift
        for bound, shift in (
            (min(one.spans[0, 0] for one in by_quantity.values()), -1),
            (max(one.spans[-1, 1] for one in by_quantity.values()), 1),
        )
    )
    days: Days = np.arange(first, last + 1)
    bounds = np.array([begin_of(at, zone).astimezone(UTC).replace(tzinfo=None) for at in days], "datetime64[s]")
    members = tuple(
        label
        for label in next(iter(by_quantity.values())).members
        if all(label in one.members for one in by_quantity.values())
    )
    values = {}
    for name, sources in _SOURCES.items():
        for quantity, how in sources:
            steps = by_quantity.get(quantity)
            if steps is None or (how != "mean" and quantity == TEMPERATURE and steps.longest > _LONGEST):
                continue
            of = steps.of(members, places).days(how, bounds)
            values[name] = saturation_vapour_pressure(of) if quantity == DEW_POINT else of
            break
    return days[:-1], members, values
