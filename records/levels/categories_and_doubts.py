"""Official flood categories as levels of a basin, and levels whose unit, datum or order seems wrong.

Every level is checked when it is read, whatever has changed since: its rating, its record, or the other levels. Alerts
wait until somebody confirms a level in doubt, at its discharge; set or converted to another, it is checked again.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
from sqlalchemy import Row, or_, select
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.basins import gauge_product, source_code
from hydrology.base.calendar import Day, day
from hydrology.base.reasons import Reason
from hydrology.base.units import M_PER_FT, converted, only_area
from hydrology.extremes.level_checks import MAX_RATIO, against_record, differ, out_of_order, ratio
from hydrology.ratings import MAX_JUMP, Rating, jump
from jobspec.levels import CATEGORIES, CategoryName, InvalidCategories, NewCategories, read_categories
from records.basins import basins, ratings
from records.database.stored import add_all
from records.levels import basin_levels
from records.levels.basin_levels import FIXED_UNIT, SET_LEVELS, FormerCategory, SetLevel
from records.series import series

_MIN_FLOW = 1e-3
"""m3/s, in the place of no flow where flows are compared."""
Rows = dict[CategoryName, dict[str, Any]]
"""Values of official categories by name."""
_OFFICIAL = ("direction", "category", "source", "official_stage", "official_flow", "impact", "instruction")


@dataclass(frozen=True, slots=True)
class Imported:
    """The effect of an import: `left_out` are categories without a discharge, and why."""

    changed: bool
    left_out: Mapping[str, Absent]


def put_categories(session: Session, basin: str, new: NewCategories, at: datetime, *, renews: bool = False) -> Imported:
    """Set the official categories of a basin in place of earlier ones: levels of the names of the categories.

    What `renews` them, a service, removes nothing: a value that it no longer gives stays, and so does a level that
    somebody set under the name of one.
    """
    basins.lock(session, basin)
    site, categories = read_categories(new.document)
    if site is not None and basin.startswith("USGS-") and site != source_code(basin):
        raise InvalidCategories(f"The document is of gauge {site}, not of {basin}: import the basin's own.")
    rows: Rows = {
        category.name: {
            "direction": "rising",
            "category": category.name,
            "source": new.source,
            "official_stage": category.stage,
            "official_flow": category.flow,
            "impact": category.impact,
            "instruction": new.instructions.get(category.name),
        }
        | ({} if new.day is None else {"source_day": new.day})
        for category in categories
    }
    before = {row.name: row for row in _rows(session, basin)}
    if renews:
        own = {level.name for level in basin_levels.of_basin(session, basin)} - before.keys()
        rows = _renewed({name: of for name, of in rows.items() if name not in own}, before)
    changed = before.keys() != rows.keys() or any(
        getattr(before[name], field) != value for name, of in rows.items() for field, value in of.items()
    )
    if changed:
        _remember(session, basin, before.values(), at)
        # An operator's level of a name in the file becomes the official one; one of another name stays.
        replaced = or_(SET_LEVELS.c.category.is_not(None), SET_LEVELS.c.name.in_(rows))
        session.execute(SET_LEVELS.delete().where(SET_LEVELS.c.basin_id == basin, replaced))
        added = {"basin_id": basin, "set_at": at, "source_day": day(at.date())}
        confirmed = {name: row.confirmed for name, row in before.items()}
        news = ({"name": name, "confirmed": confirmed.get(name)} | added | of for name, of in rows.items())
        add_all(session, SetLevel, news)
    converted = convert_categories(session, basin, at)
    return Imported(changed or converted.changed, converted.left_out)


def convert_categories(session: Session, basin: str, at: datetime) -> Imported:
    stored = ratings.newest(session, basin, day(at.date()))
    rows = _rows(session, basin)
    flows = _discharges(rows, None if stored is None else stored.rating)
    changed = False
    for row, of in zip(rows, flows, strict=True):
        flow = None if isinstance(of, Absent) else of
        if row.discharge != flow:
            _remember(session, basin, [row], at)
            own = SET_LEVELS.update().filter_by(basin_id=basin, name=row.name)
            session.execute(own.values(discharge=flow, set_at=at))
            changed = True
    return Imported(changed, {row.name: of for row, of in zip(rows, flows, strict=True) if isinstance(of, Absent)})


def _renewed(rows: Rows, before: Mapping[CategoryName, Row[Any]]) -> Rows:
    """Return the categories that were stored, with the values that are given anew, and those that are new."""
    stays = {name: {field: getattr(row, field) for field in _OFFICIAL} for name, row in before.items()}
    given = {name: {field: value for field, value in of.items() if value is not None} for name, of in rows.items()}
    return {name: rows.get(name, {}) | stays.get(name, {}) | given.get(name, {}) for name in stays | given}


def _remember(session: Session, basin: str, rows: Iterable[Row[Any]], at: datetime) -> None:
    """Store categories as they were until an instant: answers about runs before it rest on them."""
    former = (dict(row._mapping) | {"basin_id": basin, "until": at} for row in rows)
    add_all(session, FormerCategory, former, if_new=True)


def _rows(session: Session, basin: str) -> list[Row[Any]]:
    """Return the categories of a basin, with and without a discharge, the least severe first."""
    query = select(SET_LEVELS).where(SET_LEVELS.c.basin_id == basin, SET_LEVELS.c.category.is_not(None))
    return sorted(session.execute(query), key=lambda row: list[str](CATEGORIES).index(row.name))


def _discharges(rows: Sequence[Row[Any]], rating: Rating | None) -> list[float | Absent]:
    """Return the discharges of categories, m3/s: by stage and the rating, otherwise the file's flow.

    Where rating and file differ, the file's flow is used, and a stage without one is not converted. A flow that is not
    between the converted discharges of the categories below and above is left out.
    """
    no_rating = absent(Reason.NO_RATING)
    stages = (None if rating is None else row.official_stage for row in rows)
    rated = [no_rating if stage is None or rating is None else rating.flow_at(stage) for stage in stages]
    within = [rating if not isinstance(of, Absent) else None for of in rated]
    contradicted = [of is not None and _against_rating(row, of) for row, of in zip(rows, within, strict=True)]
    if any(contradicted):
        differs = absent(Reason.RATING_DIFFERS_FROM_FILE)
        rated = [
            differs if why or (row.official_flow is None and not isinstance(of, Absent)) else of
            for row, of, why in zip(rows, rated, contradicted, strict=True)
        ]
    found: list[float | Absent] = []
    for place, (row, of) in enumerate(zip(rows, rated, strict=True)):
        if isinstance(of, Absent) and row.official_flow is not None:
            lowest, highest = (_known(part) for part in (rated[:place], rated[place + 1 :]))
            ordered = max(lowest, default=0.0) < row.official_flow < min(highest, default=np.inf)
            of = row.official_flow if ordered else absent(Reason.CATEGORY_OUT_OF_ORDER, discharge=row.official_flow)
        found.append(of)
    return found


def _known(flows: Sequence[float | Absent]) -> list[float]:
    return [flow for flow in flows if not isinstance(flow, Absent)]


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
        discharge = basin_levels.get(session, basin, name).discharge
        session.execute(SET_LEVELS.update().filter_by(basin_id=basin, name=name).values(confirmed=discharge))


def _is_confirmed(level: SetLevel) -> bool:
    return level.confirmed is not None and not differ(level.confirmed, level.discharge)


def doubt_rating(session: Session, basin: str, before: Rating | None, after: Rating) -> str | None:
    """Return why a rating cannot follow the one before, or contradicts official categories; None where it can."""
    reasons = []
    if before is not None and (times := jump(before, after)) > MAX_JUMP:
        share = "share no stage" if math.isinf(times) else f"differ {times:.1f} times in discharge at a high stage"
        reasons.append(f"It jumps: it and the rating in force {share}.")
    against = {
        one.name: _against_rating(one, after) for one in basin_levels.of_basin(session, basin) if not _is_confirmed(one)
    }
    reasons += [f"{name}: {why}" for name, why in against.items() if why is not None]
    return " ".join(reasons) or None


def _against_rating(level: SetLevel | Row[Any], rating: Rating) -> str | None:
    stage, flow = level.official_stage, level.official_flow
    if stage is None or flow is None:
        return None
    # Beyond its ends a table states a bound: stages above another datum are far beyond.
    within = min(max(stage, rating.stages[0]), rating.stages[-1])
    by_rating = float(rating.discharge(within))
    times = ratio(max(by_rating, _MIN_FLOW), flow)
    if times <= MAX_RATIO or (flow - by_rating) * (stage - within) > 0:
        return None
    bound = "" if within == stage else "at most " if within > stage else "at least "
    return (
        f"At its stage of {stage / M_PER_FT:.2f} ft the rating gives {bound}{by_rating:.4g} m³/s and its file "
        f"{flow:.4g} m³/s, which is used: they differ {times:.1f} times, as if their datums or units differed, or one "
        "were out of date."
    )


def _of_level(level: SetLevel, rating: Rating | None, flow: Array | None) -> Iterator[str]:
    if rating is not None and (against := _against_rating(level, rating)) is not None:
        yield against
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
