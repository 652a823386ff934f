"""Normal flow of the days ahead and normal snow at T0, to be stored with a run."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Days, Period
from hydrology.base.reasons import Reason
from hydrology.base.units import area_by, to_mm_per_day
from hydrology.climatology.normals import normal_means, too_few_years
from models.nets.products import BLOCK
from records.basins.basins import Basin
from records.series import series
from records.simulations import simulated_storage
from records.simulations.simulated_storage import SimulatedWater
from records.simulations.snow_cells import SnowMapping


def observed_normals(
    session: Session, basins: Mapping[str, Basin], area_products: Sequence[str], days: Days
) -> dict[str, Array | Absent]:
    """Return each basin's normal flow of some days, (days,) in mm/day, or why it is unknown.

    Args:
        area_products: weather products whose area converts flow (`units.area_by`).
    """
    by_gauge: dict[str, list[str]] = {}
    for name in basins:
        by_gauge.setdefault(gauge_product(name), []).append(name)
    normals: dict[str, Array | Absent] = {name: absent(Reason.NO_DISCHARGE, basin=name) for name in basins}
    for product, names in by_gauge.items():
        for first in range(0, len(names), BLOCK):
            for name, means in _means(session, product, names[first : first + BLOCK], days):
                normals[name] = means if isinstance(means, Absent) else _in_mm(basins[name], *means, area_products)
    return normals


def snow_normals(
    session: Session, version: str, chosen: Mapping[str, SnowMapping | Absent], t0: Day
) -> dict[str, float | Absent]:
    """Return each basin's normal snow at T0, mm, by a version's past simulation; or why it is unknown."""
    normals: dict[str, float | Absent] = {}
    for first in range(0, len(chosen), BLOCK):
        block = dict([*chosen.items()][first : first + BLOCK])
        for name, water in simulated_storage.snow_of_basins(session, version, block).items():
            normals[name] = water if isinstance(water, Absent) else _at(t0, water)
    return normals


def _at(t0: Day, water: SimulatedWater) -> float | Absent:
    (normal,) = normal_means(water.values, water.period, np.array([t0])).tolist()
    return too_few_years(1, 1) if isnan(normal) else normal


def _means(
    session: Session, product: str, names: Sequence[str], days: Days
) -> Iterator[tuple[str, tuple[str, Array] | Absent]]:
    """Yield each basin that has a record, its unit and its normals, (days,), or the damage found."""
    spans = series.spans(session, names, product, "discharge")
    if not spans:
        return
    record = Period(min(span.years.first for span in spans.values()), max(span.years.last for span in spans.values()))
    try:
        values = series.read_many(session, list(spans), product, ["discharge"], record)[:, :, 0]
    except series.DamagedSeries as problem:
        yield problem.basin, absent(Reason.FAILED, message=str(problem))
        yield from _means(session, product, [name for name in names if name != problem.basin], days)
        return
    for (name, span), means in zip(spans.items(), normal_means(values, record, days), strict=True):
        yield name, (span.unit, means)


def _in_mm(basin: Basin, unit: str, means: Array, area_products: Sequence[str]) -> Array | Absent:
    if lacking := int(np.isnan(means).sum()):
        return too_few_years(lacking, len(means))
    area = area_by(basin.areas, area_products)
    if area is None:
        return means if unit == "mm/day" else absent(Reason.NO_AREA_FOR_DEPTH, basin=basin.id)
    return to_mm_per_day(means, unit=unit, area=area)
