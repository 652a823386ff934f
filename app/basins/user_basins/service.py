"""Registers user basins."""

from datetime import datetime

from sqlalchemy.orm import Session

from app.basins.user_basins.schemas import OwnBasin
from app.http.problems import Forbidden
from hydrology.base.absent import absent
from hydrology.base.basins import has_source, named_agency
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.base.units import M2_PER_KM2
from jobspec.flood_categories import CATEGORIES
from records.access.keys import Key
from records.basins import basins, ownership
from records.runs import states


class TakenNamespace(InvalidInput):
    """The basin's namespace is reserved for a published source."""

    kind = "taken-namespace"


class NotYours(Forbidden):
    """The basin belongs to another key."""

    kind = "not-your-basin"


class AgencysWords(Forbidden):
    """A name or source stands for an agency: only an administrator states what an agency has declared."""

    kind = "agencys-words"


def require_yours(session: Session, key: Key, basin: str) -> None:
    """Require that a key may change a basin; a new basin is allowed.

    Raises:
        NotYours: another key registered it, or none did, and this is not an admin's key.
    """
    stored = bool(basins.known(session, [basin]))
    if stored and not key.is_admin and basins.registered_by(session, basin) != key.id:
        raise NotYours(f"{basin} was not registered with this key: use the key that did, or an admin's.")


def require_own_words(key: Key, text: str) -> None:
    """Require that an operator states something in words that are not an agency's.

    Raises:
        AgencysWords: the text names an agency or a flood category, and this is not an admin's key.
    """
    named = named_agency(text) or (text if text.casefold() in CATEGORIES else None)
    if named is not None and not key.is_admin:
        raise AgencysWords(
            f"{text[:64]!r} stands for {named}, for which only an admin's key speaks: choose other words."
        )


def register(session: Session, key: Key, basin: str, own: OwnBasin, at: datetime) -> bool:
    """Store a user basin, and return whether it is new.

    A change of an attribute invalidates the basin's states.

    Raises:
        TakenNamespace: the basins of its namespace come from a published source.
        NotYours: another key registered it, and this is not an admin's key.
        AgencysName: the key is an operator's, and the identifier imitates an agency's or a stored basin's.
    """
    if has_source(basin):
        namespace = basin.partition("-")[0]
        raise TakenNamespace(
            f"The namespace {namespace} is reserved for a published source: choose another one, such as OWN-mill."
        )
    if not key.is_admin and not basins.known(session, [basin]):
        ownership.require_free_name(session, basin)
    new = basins.register(session, basin, key.id)
    require_yours(session, key, basin)
    area = {own.product: own.area_km2 * M2_PER_KM2}
    attributes = own.attributes | {"area_km2": own.area_km2}
    changes = basins.upsert(
        session,
        basins.Basin(
            id=basin,
            name=own.name,
            latitude=own.latitude,
            longitude=own.longitude,
            huc=own.huc,
            areas=area,
            attributes=attributes,
        ),
    )
    if basins.attributes_revised(session, basin, changes):
        states.invalidate_all(session, basin, absent(Reason.ATTRIBUTE_REVISED), at)
    return new
