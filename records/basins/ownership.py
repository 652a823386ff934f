"""Whose a basin is: the service's, which makes it official, or that of the operator's key that registered it.

This is the one declaration of what is official: a basin's levels, rating and alerts are official with it. An operator's
version serves only the operator's basins (`records.versions.promotions`), so that what forecasts an official basin is
the service's. Everything that shows or sends asks here.
"""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, func, not_, select
from sqlalchemy.orm import Session

from hydrology.base.basins import is_agencys
from hydrology.base.errors import InvalidInput
from records.access import keys
from records.access.keys import KEYS
from records.basins.tables import BASINS

MAX_NAMED = 5


class AgencysName(InvalidInput):
    """Only an administrator registers a basin under this identifier."""

    kind = "agencys-name"
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
    """Return the operator's key whose basin it is; None where it is official."""
    return owners(session, [basin]).get(basin)


def owners(session: Session, basins: Sequence[str]) -> dict[str, str]:
    """Return the operators' keys of the unofficial ones of many basins."""
    rows = select(BASINS.c.id, BASINS.c.registered_by).where(BASINS.c.id.in_(basins), not_(is_official()))
    return {basin: key for basin, key in session.execute(rows) if key is not None}


def official(session: Session, basins: Sequence[str]) -> list[str]:
    """Return the official ones of many basins, in their order; one that is not stored is none."""
    found = set(session.scalars(select(BASINS.c.id).where(BASINS.c.id.in_(basins), is_official())))
    return [basin for basin in basins if basin in found]


def all_official(session: Session) -> list[str]:
    return list(session.scalars(select(BASINS.c.id).where(is_official()).order_by(BASINS.c.id)))


def name_of(session: Session, key: str) -> str:
    """Return the name of an owner, for a message; its id where the key is not stored."""
    return session.scalar(select(KEYS.c.name).where(KEYS.c.id == key)) or key


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
