"""Which series and which area belong to a basin."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from hydrology.base.basins import basin_id
from hydrology.base.calendar import Day, last_ended_day, zone_of_longitude
from hydrology.base.errors import InvalidInput
from hydrology.base.units import Area
from jobspec.training import InputsConfig
from records.basins import basins
from records.series import series
from records.versions import promotions

GIVEN_AREA, SERVICE_AREA = "given", "usgs"
"""The names of a basin's area as an operator gave it, and as its gauge's service tells it."""
OUTLINE_AREA = "outline"
"""The name of the area of a basin's outline. No discharge is converted with it, unless it is named."""
TIME_ZONE = "time_zone"
"""The text of a basin that says whose calendar days its days are."""


def last_ended(basin: basins.Basin, now: datetime) -> Day:
    """Return the last day that has ended where a basin is: by its own time zone, else by that of its meridian."""
    return last_ended_day(now, basin.texts.get(TIME_ZONE) or zone_of_longitude(basin.longitude or 0))


def area_by(areas: Mapping[str, float], products: Sequence[str]) -> Area | None:
    """Return the area that a basin's discharge is converted with, or None where it has none.

    That of the first of some weather products that has one (a version learnt with it); else the one that an operator
    gave, else the one that the gauge's service tells.

    Args:
        areas: m2 by name.
    """
    name = next((name for name in (*products, GIVEN_AREA, SERVICE_AREA) if name in areas), None)
    return None if name is None else Area(name, areas[name])


def chosen(session: Session, wanted: Sequence[str]) -> list[str]:
    """Return the full identifiers of the wanted basins, or of all that are kept when none is named.

    Raises:
        InvalidInput: no basin is kept, or a text is no identifier.
        UnknownBasin: a wanted one is not kept.
    """
    if wanted:
        ids = unique(basin_id(text) for text in wanted)
        for basin in ids:
            basins.require(session, basin)
        return ids
    ids = [basin.id for basin in basins.list_basins(session)]
    if not ids:
        raise InvalidInput("No basin is kept here yet: ingest some first (freshet ingest camels --from FOLDER).")
    return ids


def forcing_products(session: Session) -> list[str]:
    """Return the kept products that have every variable a network takes by default."""
    fields = InputsConfig(product="any")
    stored = [set(series.products(session, name)) for name in (fields.mass, *fields.auxiliary)]
    return sorted(set.intersection(*stored))


def with_model(session: Session, version: str | None) -> list[str]:
    """Return the basins of a version (`promotions.basins_of`), or, without one, all that have a current version (if
    none has: all).

    Raises:
        UnknownVersion: it is not kept.
        InvalidInput: no basin is kept, or none that is the version's.
    """
    if version is not None:
        return promotions.basins_of(session, version)
    everything = chosen(session, [])
    current = promotions.current(session, everything)
    return [name for name in everything if name in current] or everything


def unique(ids: Iterable[str]) -> list[str]:
    """Return identifiers in their order, each once."""
    return list(dict.fromkeys(ids))
