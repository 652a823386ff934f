"""Basins: names, places, areas and attributes."""

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import ColumnElement, Row, Select, Table, and_, func, or_, select
from sqlalchemy.orm import Session

from hydrology.base.basins import has_source
from hydrology.base.errors import NotFound
from hydrology.base.units import AREA_ATTRIBUTES, M2_PER_KM2, only_area
from hydrology.weather.climate import CLIMATE
from jobspec.network import LATITUDE
from records.access.keys import KEYS
from records.basins import ownership, regions
from records.basins.ownership import AREAS, ATTRIBUTES, BASINS, TEXTS, Basin, shown_name
from records.database.stored import Selected, as_record, insert_into, narrowed
from records.database.stored import upsert as put_rows

CLIMATE_SOURCE = "climate_computed_from"
"""The text of a basin that names the weather its climate indices were computed from."""
OUTLINE_COMPARED = "outline_area"
"""The text of a basin that compares the area of its outline with its own."""

Changes = dict[str, tuple[object, object]]
Box = tuple[float, float, float, float]  # west, south, east, north, degrees


class UnknownBasin(NotFound):
    """No basin with this identifier is stored."""


class UnknownArea(NotFound):
    """The basin has no area of this name."""


class Site(NamedTuple):
    """Name of a basin, place of its gauge, degrees, each None if unknown, and whether the basin is official."""

    name: str | None
    latitude: float | None
    longitude: float | None
    is_official: bool = True


_FIELDS = ("name", "latitude", "longitude", "huc", "weather_points", "outline", "assume_attributes")
_MAPS: dict[str, Table] = {"areas": AREAS, "attributes": ATTRIBUTES, "texts": TEXTS}


def upsert(session: Session, basin: Basin) -> Changes:
    """Store the given facts of a basin, as `upsert_all` does."""
    return upsert_all(session, [basin])[basin.id]


def upsert_all(session: Session, given: Sequence[Basin]) -> dict[str, Changes]:
    """Store the given facts of basins. Omitted ones (None, a name left out) stay as they were.

    Given climate indices replace computed ones, whose origin is then deleted. Return the old and new value of each
    changed field, by basin and name (`huc`, `areas.maurer`).
    """
    ids = [basin.id for basin in given]
    rows = {row.id: row for row in session.execute(select(BASINS).where(BASINS.c.id.in_(ids)))}
    changes = {basin.id: _put_fields(session, basin, rows.get(basin.id)) for basin in given}
    for name in _MAPS:
        _merge(session, {basin.id: getattr(basin, name) for basin in given}, name, changes)
    for basin in given:
        if CLIMATE_SOURCE not in basin.texts and any(f"attributes.{name}" in changes[basin.id] for name in CLIMATE):
            session.execute(TEXTS.delete().where(TEXTS.c.basin_id == basin.id, TEXTS.c.name == CLIMATE_SOURCE))
    return changes


def _put_fields(session: Session, basin: Basin, row: Row[Any] | None) -> Changes:
    given = {name: new for name in _FIELDS if (new := getattr(basin, name)) is not None}
    olds = {name: None if row is None else getattr(row, name) for name in given}
    new = {name: value for name, value in given.items() if value != olds[name]}
    changes: Changes = {name: (olds[name], value) for name, value in new.items()}
    if row is None:
        changes = {"id": (None, basin.id), **changes}
        session.execute(BASINS.insert().values(id=basin.id, **new))
    elif new:
        session.execute(BASINS.update().where(BASINS.c.id == basin.id).values(**new))
    return changes


def _merge(session: Session, given: Mapping[str, Mapping[str, Any]], name: str, changes: Mapping[str, Changes]) -> None:
    names = [basin for basin, values in given.items() if values]
    stored = _by_basin(session, name, names) if names else {}
    new = []
    for basin in names:
        olds = stored.get(basin, {})
        for key, value in given[basin].items():
            if olds.get(key) != value:
                new.append({"basin_id": basin, "name": key, "value": value})
                changes[basin][f"{name}.{key}"] = olds.get(key), value
    put_rows(session, _MAPS[name], new)


def register(session: Session, basin: str, key: str | None) -> bool:
    """Register a basin with a key (None: the command line), and return whether it was new. A basin that is already
    stored retains its key."""
    insert = insert_into(session, BASINS).on_conflict_do_nothing(index_elements=["id"])
    new = session.execute(insert.values(id=basin, registered_by=key).returning(BASINS.c.id)).one_or_none()
    return new is not None


def registered_by(session: Session, basin: str) -> str | None:
    key: str | None = _existing(session, select(BASINS.c.registered_by), basin)[0]
    return key


def user_basins(session: Session, key: str | None = None) -> list[str]:
    names = chosen(session) if key is None else registered_with(session, key)
    return [basin for basin in names if not has_source(basin)]


def registered_with(session: Session, key: str | None) -> list[str]:
    """Return the basins that a key registered and may change: in its region, if it is for one."""
    region = session.scalar(select(KEYS.c.region).where(KEYS.c.id == key))
    query = select(BASINS.c.id).where(BASINS.c.registered_by == key).order_by(BASINS.c.id)
    return list(session.scalars(narrowed(query, (regions.holding(BASINS.c.id), region))))


def get(session: Session, basin: str) -> Basin:
    return _whole(session, [_existing(session, select(BASINS), basin)])[0]


def get_many(session: Session, basins: Sequence[str]) -> dict[str, Basin]:
    rows = session.execute(select(BASINS).where(BASINS.c.id.in_(basins))).all()
    found = {one.id: one for one in _whole(session, rows)}
    return {basin: found[basin] if basin in found else get(session, basin) for basin in basins}


def require(session: Session, basin: str) -> None:
    _existing(session, select(BASINS.c.id), basin)


def lock(session: Session, *basins: str) -> None:
    """Lock the data of basins against other writers until this transaction ends; in one order, against deadlocks."""
    # On SQLite the whole database is locked already, and FOR UPDATE is left out.
    query = select(BASINS.c.id).where(BASINS.c.id.in_(basins)).order_by(BASINS.c.id).with_for_update(key_share=True)
    for basin in {*basins}.difference(session.scalars(query)):
        require(session, basin)


def list_basins(
    session: Session,
    *,
    text: str | None = None,
    huc: str | None = None,
    box: Box | None = None,
    region: str | None = None,
    after: str | None = None,
    limit: int | None = None,
) -> list[Basin]:
    """Return basins by identifier.

    Args:
        text: a part of the identifier or the name, case-insensitive.
        huc: the beginning of the hydrologic unit code.
        box: the gauge lies within it, its edges included. A box whose west is east of its east crosses the 180th
            meridian. A basin without a known place is in no box.
        region: the name of one that has it.
        after: only identifiers after this one.
    """
    query = _placed(select(BASINS), huc, box, region).order_by(BASINS.c.id).limit(limit)
    query = narrowed(query, (_named_like, text), (BASINS.c.id.__gt__, after))
    return _whole(session, session.execute(query).all())


def _named_like(text: str) -> ColumnElement[bool]:
    columns = (func.lower(column) for column in (BASINS.c.id, BASINS.c.name))
    return or_(*(column.contains(text.lower(), autoescape=True) for column in columns))


def _placed(query: Select[*Selected], huc: str | None, box: Box | None, region: str | None) -> Select[*Selected]:
    in_unit = partial(BASINS.c.huc.startswith, autoescape=True)
    return narrowed(query, (in_unit, huc), (_within, box), (regions.holding(BASINS.c.id), region))


def _within(box: Box) -> ColumnElement[bool]:
    west, south, east, north = box
    east += 360 if east < west else 0
    turns = (BASINS.c.longitude.between(west + turn, east + turn) for turn in (-360, 0, 360))
    return and_(BASINS.c.latitude.between(south, north), or_(*turns))


def unknown(session: Session, basins: Sequence[str]) -> dict[str, UnknownBasin]:
    """Return the errors that `require` would raise for many basins, without hints."""
    known_ids = known(session, basins)
    return {
        basin: UnknownBasin(f"No basin {basin!r} is stored here: list the basins to see their identifiers.")
        for basin in basins
        if basin not in known_ids
    }


def known(session: Session, basins: Sequence[str]) -> list[str]:
    known_ids = set(session.scalars(select(BASINS.c.id).where(BASINS.c.id.in_(basins))))
    return [basin for basin in basins if basin in known_ids]


def chosen(session: Session, *, huc: str | None = None, box: Box | None = None, region: str | None = None) -> list[str]:
    return list(session.scalars(_placed(select(BASINS.c.id), huc, box, region).order_by(BASINS.c.id)))


def sites(session: Session, basins: Sequence[str]) -> dict[str, Site]:
    columns = BASINS.c.id, BASINS.c.name, BASINS.c.latitude, BASINS.c.longitude, ownership.is_official()
    rows = session.execute(select(*columns).where(BASINS.c.id.in_(basins)).order_by(BASINS.c.id))
    return {id_: Site(name, north, east, bool(official)) for id_, name, north, east, official in rows}


def titles(session: Session, basins: Sequence[str]) -> dict[str, str]:
    """Return the names of stored basins for a reader."""
    return {basin: shown_name(basin, site.name) for basin, site in sites(session, basins).items()}


def title(session: Session, basin: str) -> str:
    """Return the name of a basin for a reader."""
    return shown_name(basin, get(session, basin).name)


def count(session: Session) -> int:
    return session.scalar(select(func.count()).select_from(BASINS)) or 0


def attributes_of(session: Session, basins: Sequence[str], names: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return attributes (basins, names), NaN if unknown.

    `gauge_lat` is the latitude of the gauge. A drainage area that no source gives as an attribute is that of the basin.
    """
    query = select(ATTRIBUTES.c.basin_id, ATTRIBUTES.c.name, ATTRIBUTES.c.value)
    rows = session.execute(query.where(ATTRIBUTES.c.basin_id.in_(basins), ATTRIBUTES.c.name.in_(names)))
    known = {(basin, name): value for basin, name, value in rows}
    if LATITUDE in names:
        latitudes = session.execute(select(BASINS.c.id, BASINS.c.latitude).where(BASINS.c.id.in_(basins)))
        known |= {(basin, LATITUDE): latitude for basin, latitude in latitudes if latitude is not None}
    if wanted := set(AREA_ATTRIBUTES).intersection(names):
        for basin, areas in _by_basin(session, "areas", basins).items():
            if (area := only_area(areas)) is not None:
                known = dict.fromkeys(((basin, name) for name in wanted), area.m2 / M2_PER_KM2) | known
    table = [[known.get((basin, name), np.nan) for name in names] for basin in basins]
    return np.array(table, dtype=np.float64).reshape(len(basins), len(names))


def assuming(session: Session, basins: Sequence[str]) -> set[str]:
    allowed = select(BASINS.c.id).where(BASINS.c.id.in_(basins), BASINS.c.assume_attributes.is_(True))
    return set(session.scalars(allowed))


def attributes_revised(session: Session, basin: str, changes: Changes) -> bool:
    was_assuming, _ = changes.get("assume_attributes", (None, None))
    place = ("latitude", "longitude")
    olds = [old for name, (old, _) in changes.items() if name.startswith("attributes.") or name in place]
    if was_assuming or any(old is not None for old in olds):
        return True
    return bool(olds) and basin in assuming(session, [basin])


def area_of(session: Session, basin: str, name: str) -> float:
    areas = get(session, basin).areas
    if name not in areas:
        names = ", ".join(sorted(areas)) or "none"
        raise UnknownArea(f"{basin} has no area named {name!r}: choose one of those it has ({names}).")
    return areas[name]


def _by_basin(session: Session, name: str, basins: Sequence[str]) -> dict[str, dict[str, Any]]:
    row = _MAPS[name]
    query = select(row.c.basin_id, row.c.name, row.c.value).where(row.c.basin_id.in_(basins))
    by_basin: dict[str, dict[str, Any]] = {}
    for basin, key, value in session.execute(query.order_by(row.c.basin_id, row.c.name)):
        by_basin.setdefault(basin, {})[key] = value
    return by_basin


def _whole(session: Session, rows: Sequence[Row[Any]]) -> list[Basin]:
    ids = [row.id for row in rows]
    maps = {name: _by_basin(session, name, ids) for name in _MAPS}
    return [as_record(Basin, row, **{name: stored.get(row.id, {}) for name, stored in maps.items()}) for row in rows]


def _slips(one: str, other: str) -> int:
    alike = sum(block.size for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks())
    return max(len(one), len(other)) - alike


def _existing(session: Session, columns: Select[Any], basin: str) -> Row[Any]:
    found = session.execute(columns.where(BASINS.c.id == basin)).one_or_none()
    if found is None:
        alike = get_close_matches(basin, session.scalars(select(BASINS.c.id)).all(), n=10, cutoff=0.8)
        close = [name for name in alike if _slips(basin, name) <= 1][:3]
        hint = f"did you mean {' or '.join(close)}?" if close else "list the basins to see their identifiers."
        raise UnknownBasin(f"No basin {basin!r} is stored here: {hint}")
    return found
