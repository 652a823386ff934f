"""Regions of operators: basins by a rule. A key of a region changes no basin outside it.

This is the one declaration of a region's basins: what permits, lists, sends or limits by region asks here.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, NamedTuple

from sqlalchemy import CheckConstraint, ColumnElement, Select, String, cast, func, literal, null, or_, select
from sqlalchemy.orm import Session

from hydrology.base.doc import Doc, Why
from hydrology.base.errors import InvalidInput, NotFound
from records.access.keys import KEYS
from records.basins.ownership import BASINS
from records.database.stored import find_or_raise, read, stored, table_of

_OTHER_RULE = Why("The region has its basins by another rule.")
_NO_LIMIT = Why("There is only that of each key.")
_RULES = " + ".join(f"CASE WHEN {rule} IS NULL THEN 0 ELSE 1 END" for rule in ("huc", "agency", "basins"))


class UnknownRegion(NotFound):
    """No region with this name is stored."""


class OutsideRegion(InvalidInput):
    """The key is of a region, and changes nothing outside it."""

    status = 403
    remedy = "Use a key of a region that has the basin, or a key without a region."


@stored("regions", CheckConstraint(f"{_RULES} = 1", name="rule"))
class Region:
    """Basins by one rule, and the limits of the keys that are for them."""

    id: Annotated[str, Doc("Its name.")]
    huc: Annotated[str | None, Doc("What the hydrologic unit codes of its basins begin with."), _OTHER_RULE] = None
    agency: Annotated[str | None, Doc("What its basins' identifiers have before the hyphen."), _OTHER_RULE] = None
    basins: Annotated[list[str] | None, Doc("Its basins. They need not be stored yet."), _OTHER_RULE] = None
    unfinished_jobs: Annotated[int | None, Doc("Limit of unfinished jobs of its keys together."), _NO_LIMIT] = None
    subscriptions: Annotated[int | None, Doc("Limit of subscriptions of its keys together."), _NO_LIMIT] = None


REGIONS = table_of(Region)


def get(session: Session, region: str) -> Region:
    unknown = UnknownRegion(f"No region {region[:64]!r} is stored here: list the regions to see their names.")
    return find_or_raise(session, Region, unknown, id=region)


def list_regions(session: Session) -> list[Region]:
    return read(session, Region, select(REGIONS).order_by(REGIONS.c.id))


def members(region: str) -> Select[Any]:
    """Return the query of the stored basins of a region."""
    return select(BASINS.c.id).join(REGIONS, _covers(BASINS.c.id, BASINS.c.huc)).where(REGIONS.c.id == region)


def holding(column: ColumnElement[Any]) -> Callable[[str], ColumnElement[bool]]:
    """Return the condition, by a region's name, that a column names a basin of it."""
    return lambda region: column.in_(members(region))


def of_basin(session: Session, basin: str) -> set[str]:
    """Return the regions that have a stored basin."""
    query = select(REGIONS.c.id).join(BASINS, _covers(BASINS.c.id, BASINS.c.huc))
    return set(session.scalars(query.where(BASINS.c.id == basin)))


class RegionLimit(NamedTuple):
    """A limit of the keys of a region together, and the query of their ids."""

    limit: int
    keys: Select[Any]


def limit_of_key(session: Session, key: str | None, limit: ColumnElement[Any]) -> RegionLimit | None:
    """Return a limit of a key's region; None without one. The region stays locked until the transaction ends, so that
    what its keys do at the same time is all counted."""
    query = select(REGIONS.c.id, limit).join(KEYS, KEYS.c.region == REGIONS.c.id)
    query = query.where(KEYS.c.id == key, limit.is_not(None))
    # On SQLite the whole database is locked already, and FOR UPDATE is left out.
    found = session.execute(query.with_for_update(of=REGIONS, key_share=True)).one_or_none()
    return None if found is None else RegionLimit(found[1], select(KEYS.c.id).where(KEYS.c.region == found[0]))


def require_within(session: Session, region: str | None, basins: Sequence[str], *, key: str | None) -> None:
    """Refuse basins outside the region of the key of a name. A basin that is not stored counts by its identifier."""
    if region is None:
        return
    inside = set(session.scalars(members(region).where(BASINS.c.id.in_(basins))))
    for basin in basins:
        by_name = select(REGIONS.c.id).where(REGIONS.c.id == region, _covers(literal(basin), cast(null(), String)))
        if basin not in inside and session.scalar(by_name) is None:
            theirs = "".join(f"of the region {name} or " for name in sorted(of_basin(session, basin)))
            is_new = session.scalar(select(BASINS.c.id).where(BASINS.c.id == basin)) is None
            raise OutsideRegion(
                f"The key of {key} is for the region {region}, and {basin} does not lie in it: the key reads what is "
                f"public there and changes nothing. Use a key {theirs}without a region"
                f"{', or register the new basin with its `huc` first' if is_new else ''}."
            )


def _covers(basin: ColumnElement[Any], huc: ColumnElement[Any]) -> ColumnElement[bool]:
    """Return the condition that a region, a row of its table, has a basin by its identifier and hydrologic unit."""
    rule = REGIONS.c
    listed = cast(rule.basins, String)
    return or_(
        func.substr(huc, 1, func.length(rule.huc)) == rule.huc,
        func.substr(basin, 1, func.length(rule.agency) + 1) == rule.agency + "-",
        func.replace(listed, literal('"') + basin + literal('"'), "") != listed,
    )
