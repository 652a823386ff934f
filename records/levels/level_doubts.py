"""Levels that somebody set and whose unit, datum or order seems wrong: alerts wait until somebody confirms them.

Every level is checked when it is read, whatever has changed since: its rating, its record, or the other levels. A level
is confirmed at its discharge; set or converted to another, it is checked again.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.arrays import Array
from hydrology.base.basins import gauge_product
from hydrology.base.calendar import Day
from hydrology.base.units import converted, only_area
from hydrology.extremes.level_checks import against_record, differ, out_of_order, ratio
from hydrology.ratings import M_PER_FT, Rating
from jobspec.levels import CATEGORIES
from records.basins import basins, ratings
from records.levels import basin_levels
from records.levels.basin_levels import FIXED_UNIT, THRESHOLDS, Threshold
from records.series import series

REMEDY = "Correct it, or confirm it (freshet thresholds confirm): until then, its alerts wait."


def in_doubt(session: Session, basin: str, on: Day) -> dict[str, str]:
    """Return why levels of a basin seem wrong, by name; confirmed ones are left out. `on` is the day of the rating."""
    levels = basin_levels.of_basin(session, basin)
    if all(_is_confirmed(level) for level in levels):
        return {}
    stored, flow = ratings.newest(session, basin, on), _observed(session, basin)
    rating = None if stored is None else stored.rating
    rising = {level.name: level.discharge for level in levels if level.direction == "rising"}
    order = out_of_order(rising, CATEGORIES)
    found = {
        level.name: [*_of_level(level, rating, flow), *([order[level.name]] if level.name in order else [])]
        for level in levels
        if not _is_confirmed(level)
    }
    return {name: " ".join([*sentences, REMEDY]) for name, sentences in found.items() if sentences}


def confirm(session: Session, basin: str, names: Sequence[str]) -> None:
    basins.lock(session, basin)
    for name in names:
        level = basin_levels.get(session, basin, name)
        own = (THRESHOLDS.c.basin_id == basin, THRESHOLDS.c.name == level.name)
        session.execute(THRESHOLDS.update().where(*own).values(confirmed=level.discharge))


def _is_confirmed(level: Threshold) -> bool:
    return level.confirmed is not None and not differ(level.confirmed, level.discharge)


def _of_level(level: Threshold, rating: Rating | None, flow: Array | None) -> Iterator[str]:
    if rating is not None and level.official_stage is not None and level.official_flow is not None:
        by_rating = float(rating.discharge(level.official_stage))
        if by_rating > 0 and differ(by_rating, level.official_flow):
            times, stage = ratio(by_rating, level.official_flow), level.official_stage / M_PER_FT
            yield (
                f"At its stage of {stage:.2f} ft the rating gives {by_rating:.4g} m³/s and its file "
                f"{level.official_flow:.4g} m³/s, which is used: they differ {times:.1f} times, as if their datums or "
                "units differed, or one were out of date."
            )
    if flow is not None and (why := against_record(level.discharge, level.direction, flow)) is not None:
        yield why


def _observed(session: Session, basin: str) -> Array | None:
    record = series.read(session, basin, gauge_product(basin), "discharge")
    if record is None:
        return None
    area = only_area(basins.get(session, basin).areas)
    if record.unit == "mm/day" and area is None:
        return None
    return np.asarray(converted(record.values, unit=record.unit, into=FIXED_UNIT, area=area), np.float64)
