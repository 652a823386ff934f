"""Basins with their areas, attributes, texts and names for a reader; and whose each is.

A basin is the service's, which makes it official, or that of the operator's key that registered it. This is the one
declaration of what is official: a basin's levels, rating and alerts are official with it. An operator's version serves
only the operator's basins (`records.versions.promotions`), so that what forecasts an official basin is the service's.
Everything that shows or sends asks here.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Annotated, Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    ColumnElement,
    ForeignKey,
    Index,
    Select,
    String,
    Table,
    func,
    not_,
    select,
)
from sqlalchemy.orm import Session
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeEngine

from hydrology.base.basins import is_agencys
from hydrology.base.errors import InvalidInput
from records.access import keys
from records.database.base import Base, FreeText, Real
from records.database.stored import ELSEWHERE, stored, table_of


@stored(
    "basins",
    # The operator's key that registered it; null: the service's. Not a foreign key: keys are revoked, not deleted.
    Column("registered_by", String),
    # The operator's key whose basin it was before an administrator adopted it.
    Column("adopted_from", String),
    Index(None, "registered_by"),
    CheckConstraint("latitude BETWEEN -90 AND 90", name="latitude"),
    CheckConstraint("longitude BETWEEN -180 AND 180", name="longitude"),
    kw_only=False,
)
class Basin:
    """A basin.

    Attributes:
        id: the full identifier (`USGS-01013500`).
        latitude, longitude: of the gauge, degrees.
        areas: m2, by source.
        attributes: numbers by name; unknown ones are left out; texts: categories by name.
        weather_points: [latitude, longitude] of each point that its weather is averaged over; None: only the gauge.
        outline: outer rings, simplified, each a closed list of [latitude, longitude]; None: not known.
        assume_attributes: whether an operator allows missing attributes to be assumed; None: not set.
    """

    id: str
    name: FreeText | None = None
    latitude: float | None = None
    longitude: float | None = None
    huc: str | None = None
    areas: Annotated[Mapping[str, float], ELSEWHERE] = field(default_factory=dict)
    attributes: Annotated[Mapping[str, float], ELSEWHERE] = field(default_factory=dict)
    texts: Annotated[Mapping[str, str], ELSEWHERE] = field(default_factory=dict)
    weather_points: Annotated[list[list[float]] | None, JSON(none_as_null=True)] = None
    outline: Annotated[list[list[list[float]]] | None, JSON(none_as_null=True)] = None
    assume_attributes: bool | None = None


def _named_values(name: str, kind: TypeEngine[Any], *items: SchemaItem) -> Table:
    basin = Column("basin_id", String, ForeignKey("basins.id"), primary_key=True)
    columns = basin, Column("name", String, primary_key=True), Column("value", kind, nullable=False)
    return Table(name, Base.metadata, *columns, *items)


BASINS = table_of(Basin)
AREAS = _named_values("basin_areas", Real(), CheckConstraint("value > 0", name="positive"))
"""By the source of each, m2."""
ATTRIBUTES = _named_values("basin_attributes", Real())
TEXTS = _named_values("basin_texts", String())


MAX_NAMED = 5


class AgencysName(InvalidInput):
    """Only an administrator registers a basin under this identifier."""

    status = 403
    remedy = "Choose an identifier of your own, such as OWN-mill, or use an admin's key or the command line."


class Unofficial(InvalidInput):
    """A basin is an operator's, and the service's data or words would stand beside that operator's."""

    kind = "unofficial-basin"
    status = 409
    remedy = "Adopt the basin: `freshet basins adopt BASIN`, or `--adopt` where data are ingested."


def is_official() -> ColumnElement[bool]:
    """Return the condition that a basin is the service's: registered by it, by an admin's key, or adopted."""
    return keys.official(BASINS.c.registered_by)


def unofficial_ids() -> Select[Any]:
    return select(BASINS.c.id).where(not_(is_official()))


def owner(session: Session, basin: str) -> str | None:
    return owners(session, [basin]).get(basin)


def owners(session: Session, basins: Sequence[str]) -> dict[str, str]:
    rows = select(BASINS.c.id, BASINS.c.registered_by).where(BASINS.c.id.in_(basins), not_(is_official()))
    return {basin: key for basin, key in session.execute(rows) if key is not None}


def official(session: Session, basins: Sequence[str]) -> list[str]:
    """Return the official ones of many basins, in their order; one that is not stored is none."""
    found = set(session.scalars(select(BASINS.c.id).where(BASINS.c.id.in_(basins), is_official())))
    return [basin for basin in basins if basin in found]


def require_free_name(session: Session, basin: str) -> None:
    """Refuse an identifier of an agency, or like one; or a stored basin's in other letters."""
    if is_agencys(basin):
        raise AgencysName(
            f"{basin} names an agency or a published archive, whose basins an administrator registers: choose an "
            "identifier of your own, such as OWN-mill."
        )
    alike = select(BASINS.c.id).where(func.lower(BASINS.c.id) == basin.lower(), BASINS.c.id != basin)
    if (other := session.scalar(alike.limit(1))) is not None:
        raise AgencysName(f"{basin} is {other} in other letters, which is stored here: choose another identifier.")


_STATE = re.compile(r"(.+?),? ([A-Z]{2})\.?")
_SMALL = frozenset(("at", "near", "below", "above", "of", "the", "and"))
_SHORT = {"nr": "near", "blw": "below", "abv": "above", "rv": "River", "riv": "River", "cr": "Creek", "ck": "Creek",
          "fk": "Fork", "bk": "Brook", "br": "Branch", "res": "Reservoir", "nf": "North Fork", "sf": "South Fork",
          "mf": "Middle Fork"}  # fmt: skip
_SHORT_IN_CAPITALS = _SHORT | {"a": "at", "ab": "above", "bl": "below", "r": "River", "c": "Creek", "f": "Fork",
                               "l": "Little", "n": "North", "s": "South", "e": "East", "w": "West"}  # fmt: skip
"""Abbreviations of station names."""


@lru_cache(maxsize=2**15)  # a page of many basins asks for each name again and again
def station_name(name: str) -> str:
    """Return a station's name in one form: "MERCED R NR YOSEMITE CA" is "Merced River near Yosemite, CA"."""
    parts = _STATE.fullmatch(name.strip())
    place, state = (name, "") if parts is None else (parts[1], f", {parts[2]}")
    shouted = place == place.upper()
    return " ".join(_word(word, first=at == 0, shouted=shouted) for at, word in enumerate(place.split())) + state


_US_STATES = """\
AL Alabama/AK Alaska/AZ Arizona/AR Arkansas/CA California/CO Colorado/CT Connecticut/DE Delaware/FL Florida/GA Georgia/
HI Hawaii/ID Idaho/IL Illinois/IN Indiana/IA Iowa/KS Kansas/KY Kentucky/LA Louisiana/ME Maine/MD Maryland/
MA Massachusetts/MI Michigan/MN Minnesota/MS Mississippi/MO Missouri/MT Montana/NE Nebraska/NV Nevada/
NH New Hampshire/NJ New Jersey/NM New Mexico/NY New York/NC North Carolina/ND North Dakota/OH Ohio/OK Oklahoma/
OR Oregon/PA Pennsylvania/RI Rhode Island/SC South Carolina/SD South Dakota/TN Tennessee/TX Texas/UT Utah/VT Vermont/
VA Virginia/WA Washington/WV West Virginia/WI Wisconsin/WY Wyoming"""
_CODES = {name: code for code, _, name in (pair.strip().partition(" ") for pair in _US_STATES.split("/"))}
_CODES |= {code: code for code in _CODES.values()}


@lru_cache(maxsize=2**15)
def us_state(name: str) -> str | None:
    """Return the code of the state that a station's name ends with; None where it names none."""
    last = station_name(name).rpartition(", ")[2].strip(" .")
    return _CODES.get(last)


def shown_name(basin: str, name: str | None) -> str:
    """Return a basin's name for a reader: its station's, or its identifier as it is."""
    return station_name(name) if name else basin


def _word(word: str, *, first: bool, shouted: bool) -> str:
    core = word.rstrip(",.")
    end = word[len(core) :]
    written = (_SHORT_IN_CAPITALS if shouted else _SHORT).get(core.lower())
    if written is not None:
        return written + end.replace(".", "")
    if not shouted:
        return word
    plain = core.lower()
    capital = "-".join(part[:1].upper() + part[1:] for part in plain.split("-"))
    return (plain if plain in _SMALL and not first else capital) + end
