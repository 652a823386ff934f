"""Normal flow of the days ahead and normal snow at T0, to be stored with a run."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day, Days, Period, days_between
from hydrology.base.reasons import Reason
from hydrology.base.units import area_by, to_mm_per_day
from hydrology.climatology.normals import normal_means, too_few_years
from models.nets.products import BLOCK
from records.basins.tables import Basin
from records.runs.run_summary import ReferenceSnow
from records.series import series, year_rows
from records.simulations import simulated_series
from records.simulations.snow_cells import REFERENCES, SnowMapping


class Record(NamedTuple):
    """A record: its unit and its values, (days,)."""

    unit: str
    days: Period
    values: npt.NDArray[np.float32]


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
            for name, record in _records(session, product, "discharge", names[first : first + BLOCK]):
                if isinstance(record, Absent):
                    normals[name] = record
                else:
                    means = normal_means(record.values, record.days, days)
                    normals[name] = _in_mm(basins[name], record.unit, means, area_products)
    return normals


def snow_normals(
    session: Session, version: str, chosen: Mapping[str, SnowMapping | Absent], t0: Day
) -> dict[str, float | Absent]:
    """Return each basin's normal snow at T0, mm, by a version's past simulation; or why it is unknown."""
    normals: dict[str, float | Absent] = {}
    for first in range(0, len(chosen), BLOCK):
        block = dict([*chosen.items()][first : first + BLOCK])
        for name, water in simulated_series.snow_of_basins(session, version, block).items():
            normals[name] = water if isinstance(water, Absent) else _at(t0, water.values, water.period)
    return normals


def reference_snow(session: Session, names: Sequence[str], t0: Day) -> dict[str, ReferenceSnow | Absent]:
    """Return each basin's reference snow at T0, mm, with its normal; or why it is unknown."""
    found: dict[str, ReferenceSnow | Absent] = {
        name: absent(Reason.NO_REFERENCE_SNOW_AT_T0, t0=str(t0)) for name in names
    }
    without = list(names)
    for product in REFERENCES:
        spans = {name: span.years for name, span in series.spans(session, without, product, "swe").items()}
        without = [name for name in without if name not in spans]
        reaching = [name for name, years in spans.items() if years.first <= t0 <= years.last]
        for first in range(0, len(reaching), BLOCK):
            for name, record in _records(session, product, "swe", reaching[first : first + BLOCK]):
                found[name] = (
                    record if isinstance(record, Absent) else _reference_at(t0, product, record) or found[name]
                )
    return found


def _reference_at(t0: Day, product: str, record: Record) -> ReferenceSnow | None:
    mm = float(record.values[days_between(record.days.first, t0)])
    if isnan(mm):
        return None
    return ReferenceSnow(product=product, mm=mm, normal_mm=_at(t0, record.values, record.days))


def _at(t0: Day, values: npt.NDArray[np.floating], record: Period) -> float | Absent:
    (normal,) = normal_means(values, record, np.array([t0])).tolist()
    return too_few_years(1, 1) if isnan(normal) else normal


def _records(
    session: Session, product: str, variable: str, names: Sequence[str]
) -> Iterator[tuple[str, Record | Absent]]:
    """Yield each basin that has a record, and the record, all of the same days, or the damage found."""
    spans = series.spans(session, names, product, variable)
    if not spans:
        return
    days = Period(min(span.years.first for span in spans.values()), max(span.years.last for span in spans.values()))
    try:
        values = series.read_many(session, list(spans), product, [variable], days)[:, :, 0]
    except year_rows.DamagedSeries as problem:
        yield problem.basin, absent(Reason.FAILED, message=str(problem))
        yield from _records(session, product, variable, [name for name in names if name != problem.basin])
        return
    for (name, span), of_basin in zip(spans.items(), values, strict=True):
        yield name, Record(span.unit, days, of_basin)


def _in_mm(basin: Basin, unit: str, means: Array, area_products: Sequence[str]) -> Array | Absent:
    if lacking := int(np.isnan(means).sum()):
        return too_few_years(lacking, len(means))
    area = area_by(basin.areas, area_products)
    if area is None:
        return means if unit == "mm/day" else absent(Reason.NO_AREA_FOR_DEPTH, basin=basin.id)
    return to_mm_per_day(means, unit=unit, area=area)
