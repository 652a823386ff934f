"""The version that forecasts each basin: rows with history, never overwritten; and the area that follows from it."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Subquery, func, select
from sqlalchemy.orm import Session

from hydrology.base.errors import InvalidInput
from hydrology.base.units import GIVEN_AREA, OUTLINE_AREA, SERVICE_AREA, Area, area_by, only_area
from records.basins import basins, ownership
from records.basins.ownership import BASINS, Basin
from records.database.base import FreeText, Whole
from records.database.stored import add_all, grouped, narrowed, read, stored, table_of
from records.versions import versions


class Withdrawn(InvalidInput):
    """The version may no longer be used."""

    kind = "withdrawn-version"


class AgainstPhysics(InvalidInput):
    """The version's networks violate physics."""


class NotOwnersBasin(InvalidInput):
    """An operator's version serves only basins that the operator's key registered."""

    remedy = "Name only basins that the operator's key registered, or promote a version of the service."


class NoBasin(InvalidInput):
    """No basin is named, and the version has none stored here."""


class NothingBefore(InvalidInput):
    """No basin of the version had another version before it."""


@stored(
    "promotions",
    Column("id", Whole, nullable=False),
    CheckConstraint("length(reason) > 0", name="reason"),
    CheckConstraint("length(promoted_by) > 0", name="promoted_by"),
    Index(None, "basin_id"),
)
class Promotion:
    """From `promoted_at` on, the version forecasts the basin."""

    basin_id: Annotated[str, ForeignKey("basins.id")]
    version_id: Annotated[str, ForeignKey("versions.id")]
    promoted_at: datetime
    promoted_by: str
    reason: FreeText


PROMOTIONS = table_of(Promotion)


def promote(
    session: Session, version: str, basin_ids: Sequence[str] | None, *, reason: str, by: str, at: datetime
) -> list[str]:
    """Make a version current for basins, and return those newly served.

    If the previous version decided alerts of a basin, the promotion is recorded as a change. `basin_ids` None:
    `basins_of`.
    """
    if not by.strip() or not reason.strip():
        raise InvalidInput("A promotion names who promotes and why: give both.")
    candidate = versions.get(session, version)
    for used in (candidate, *(versions.get(session, part.version) for part in candidate.combines)):
        require_usable(used)
    if basin_ids is None:
        basin_ids = basins_of(session, version)
    basins.lock(session, *basin_ids)
    _require_owners(session, candidate, basin_ids)
    before = current(session, basin_ids)
    changed = [basin for basin in dict.fromkeys(basin_ids) if before.get(basin) != version]
    stamp = {"version_id": version, "promoted_at": at, "promoted_by": by, "reason": reason}
    add_all(session, Promotion, [stamp | {"basin_id": basin} for basin in changed])
    from records.alerts import settle_alerts  # here, for readers of promotions need none of it

    for basin in changed:
        if basin in before:
            settle_alerts.promoted(session, basin, before[basin], version, at)
    return changed


def require_usable(version: versions.Version) -> None:
    """Raise Withdrawn or AgainstPhysics unless forecasts may come from a version."""
    if version.status == "withdrawn":
        raise Withdrawn(f"Version {version.id} was withdrawn: use another.")
    if failures := [probe.in_words for probe in version.properties.physics or () if probe.forbids]:
        raise AgainstPhysics(f"Version {version.id} fails probes of its physics ({'; '.join(failures)}): use another.")


def servable(session: Session, owner: str | None, basin_ids: Sequence[str]) -> list[str]:
    """Return the basins that a version of an owner may serve: all if the service owns it."""
    if owner is None:
        return list(basin_ids)
    own = set(basins.registered_with(session, owner))
    return [basin for basin in basin_ids if basin in own]


def _require_owners(session: Session, version: versions.Version, basin_ids: Sequence[str]) -> None:
    served = set(servable(session, version.owner, basin_ids))
    if others := sorted({*basin_ids} - served):
        raise NotOwnersBasin(
            f"Version {version.id} was trained with an operator's key and serves only basins registered with that key, "
            f"not {', '.join(others[:5])}{' and others' if others[5:] else ''}: name the operator's basins, or train a "
            "version with an admin's key or on the command line."
        )


def roll_back(session: Session, version: str, *, reason: str, by: str, at: datetime) -> dict[str, str]:
    """Give each basin of a version its previous version, and return the new pairs.

    A basin without a previous version retains its version: otherwise it would have no forecast. Nothing is changed
    where a previous version may no longer be used.
    """
    versions.get(session, version)
    earlier = before(session, in_use(session).get(version, []))
    if not earlier:
        raise NothingBefore(
            f"No basin that uses version {version} had another before it: there is no version to roll back to."
        )
    for old in sorted(set(earlier.values())):
        promote(session, old, [basin for basin in earlier if earlier[basin] == old], reason=reason, by=by, at=at)
    return earlier


def current(session: Session, basin_ids: Sequence[str]) -> dict[str, str]:
    rows = current_versions(basin_ids)
    return dict(session.execute(select(rows.c.basin_id, rows.c.version_id)).all())


def basins_here(session: Session, version: versions.Version) -> list[str]:
    """Return the stored basins in a version's scope. Without any, those that it is current for."""
    return basins.known(session, version.scope) or in_use(session).get(version.id, [])


def basins_of(session: Session, version: str) -> list[str]:
    """Return a version's default basins (`basins_here`); NoBasin where there are none."""
    basins = basins_here(session, versions.get(session, version))
    if not basins:
        raise NoBasin(
            f"None of the basins that version {version} learnt from is stored here, and it is current for no other: "
            "name the basins."
        )
    return basins


def in_use(session: Session) -> dict[str, list[str]]:
    """Return the basins that each version is current for. Versions without any are left out."""
    rows = current_versions()
    return grouped(session.execute(select(rows.c.version_id, rows.c.basin_id).order_by(rows.c.basin_id)))


def official_basins_in_use(session: Session) -> dict[str, int]:
    """Return the number of official basins that each version is current for. Versions without any are left out."""
    rows = current_versions()
    query = select(rows.c.version_id, func.count()).join(BASINS, BASINS.c.id == rows.c.basin_id)
    return dict(session.execute(query.where(ownership.is_official()).group_by(rows.c.version_id)).all())


def current_versions(basins: Sequence[str] | None = None) -> Subquery:
    """Return the subquery (basin_id, version_id) of each basin's newest promotion (default: of all basins)."""
    newest = narrowed(select(func.max(PROMOTIONS.c.id)), (PROMOTIONS.c.basin_id.in_, basins))
    newest = newest.group_by(PROMOTIONS.c.basin_id)
    return select(PROMOTIONS.c.basin_id, PROMOTIONS.c.version_id).where(PROMOTIONS.c.id.in_(newest)).subquery()


def last_promotions(basins: Sequence[str] | None = None) -> Subquery:
    """Return the subquery (basin_id, version_id, number, is_current) of each basin's versions (default: of all basins).

    Its `number` is that of the version's last promotion for the basin: the higher, the later.
    """
    newest = narrowed(select(func.max(PROMOTIONS.c.id)), (PROMOTIONS.c.basin_id.in_, basins))
    newest = newest.group_by(PROMOTIONS.c.basin_id, PROMOTIONS.c.version_id)
    current = func.max(PROMOTIONS.c.id).over(partition_by=PROMOTIONS.c.basin_id)
    is_current = (PROMOTIONS.c.id == current).label("is_current")
    columns = PROMOTIONS.c.basin_id, PROMOTIONS.c.version_id, PROMOTIONS.c.id.label("number"), is_current
    return select(*columns).where(PROMOTIONS.c.id.in_(newest)).subquery()


def before(session: Session, basin_ids: Sequence[str]) -> dict[str, str]:
    """Return each basin's previous version; basins without one are left out."""
    newest_first = func.row_number().over(partition_by=PROMOTIONS.c.basin_id, order_by=PROMOTIONS.c.id.desc())
    columns = PROMOTIONS.c.basin_id, PROMOTIONS.c.version_id, newest_first.label("rank")
    ranked = select(*columns).where(PROMOTIONS.c.basin_id.in_(basin_ids)).subquery()
    query = select(ranked.c.basin_id, ranked.c.version_id).where(ranked.c.rank == 2).order_by(ranked.c.basin_id)
    return dict(session.execute(query).all())


def history(session: Session, basin: str) -> list[Promotion]:
    of_basin = select(PROMOTIONS).where(PROMOTIONS.c.basin_id == basin)
    return read(session, Promotion, of_basin.order_by(PROMOTIONS.c.id.desc()))


def since(session: Session, instant: datetime) -> set[str]:
    return set(session.scalars(select(PROMOTIONS.c.basin_id).where(PROMOTIONS.c.promoted_at > instant)))


def of_version(session: Session, version: str) -> list[Promotion]:
    versions.get(session, version)
    order = (PROMOTIONS.c.promoted_at.desc(), PROMOTIONS.c.basin_id)
    return read(session, Promotion, select(PROMOTIONS).where(PROMOTIONS.c.version_id == version).order_by(*order))


def areas_in_use(session: Session, stored: Sequence[Basin], version: str | None = None) -> dict[str, Area | None]:
    """Return the area by which each basin's flow is converted; None where it has none.

    It is by the products of the current or the given version (`units.area_by`). Without a version, where the areas of
    products differ, it is the one that an operator gave, else that of the gauge's service.
    """
    names = [basin.id for basin in stored]
    of_basin = current(session, names) if version is None else dict.fromkeys(names, version)
    products = {one: versions.get(session, one).area_products for one in set(of_basin.values())}
    return {
        basin.id: area_by(basin.areas, products[of_basin[basin.id]]) if basin.id in of_basin else _of_all(basin.areas)
        for basin in stored
    }


def _of_all(areas: Mapping[str, float]) -> Area | None:
    of_products = {
        m2
        for name, m2 in areas.items()
        if name not in (GIVEN_AREA, SERVICE_AREA, OUTLINE_AREA) and not name.startswith("area_")
    }
    return area_by(areas, ()) if len(of_products) > 1 else only_area(areas)
