"""The series and the area that belong to a basin."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy.orm import Session

from hydrology.base.basins import basin_id
from hydrology.base.calendar import Day, last_ended_day, zone_of_longitude
from hydrology.base.errors import InvalidInput
from jobspec.training import InputsConfig
from records.basins import basins, ownership
from records.basins.tables import Basin
from records.series import series
from records.versions import promotions

TIME_ZONE = "time_zone"
"""Name of the basin text that holds its time zone, which sets its calendar days."""


def last_ended(basin: Basin, now: datetime) -> Day:
    """Return the last day that has ended at a basin, by its time zone or else its meridian."""
    return last_ended_day(now, basin.texts.get(TIME_ZONE) or zone_of_longitude(basin.longitude or 0))


def chosen(session: Session, wanted: Sequence[str]) -> list[str]:
    """Return the full ids of the wanted basins, or of all stored ones when none is named.

    Raises:
        InvalidInput: no basin is stored, or a text is not a basin identifier.
        UnknownBasin: a wanted basin is not stored.
    """
    if wanted:
        ids = unique(basin_id(text) for text in wanted)
        for basin in ids:
            basins.require(session, basin)
        return ids
    ids = [basin.id for basin in basins.list_basins(session)]
    if not ids:
        raise InvalidInput("No basin is stored yet: ingest some first (freshet ingest camels --from FOLDER).")
    return ids


def chosen_to_learn_from(session: Session, wanted: Sequence[str], owner: str | None) -> list[str]:
    """Return the basins of a training: those named, or all; a version of the service learns from official ones alone.

    An administrator may name others.

    Args:
        owner: the operator's key that will own the version; None for the service's.

    Raises:
        InvalidInput, UnknownBasin: as `chosen`.
    """
    ids = chosen(session, wanted)
    return ids if wanted or owner is not None else ownership.official(session, ids)


def forcing_products(session: Session) -> list[str]:
    """Return the stored products that have every variable a network takes by default."""
    fields = InputsConfig(product="any")
    stored = [set(series.products(session, name)) for name in (fields.mass, *fields.auxiliary)]
    return sorted(set.intersection(*stored))


def with_model(session: Session, version: str | None) -> list[str]:
    """Return the basins of a version, or else all basins that have a current version.

    Where no basin has a current version, all stored basins are returned. See `promotions.basins_of`.

    Raises:
        UnknownVersion: it does not exist.
        InvalidInput: no basin is stored, or none that belongs to the version.
    """
    if version is not None:
        return promotions.basins_of(session, version)
    everything = chosen(session, [])
    current = promotions.current(session, everything)
    return [name for name in everything if name in current] or everything


def unique(ids: Iterable[str]) -> list[str]:
    """Return identifiers without duplicates, in their order."""
    return list(dict.fromkeys(ids))
