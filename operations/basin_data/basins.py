"""What belongs to a basin: its days, the choice of basins, and its attributes as network input.

Missing attributes are assumed, if an operator allows it. Climate and area are never assumed: the
climate is computed from the weather archive, and discharge is converted with the area.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from hydrology.base.absent import Absent, absent
from hydrology.base.basins import TIME_ZONE, basin_id
from hydrology.base.calendar import Day, last_ended_day, zone_of_longitude
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from hydrology.base.units import AREA_ATTRIBUTES
from hydrology.weather.climate import CLIMATE
from jobspec.training import InputsConfig
from records.basins import basins, ownership
from records.basins.ownership import Basin
from records.series import series
from records.versions import promotions


def last_ended(basin: Basin, now: datetime) -> Day:
    """Return the last day that has ended at a basin, by its time zone or else its meridian."""
    return last_ended_day(now, basin.texts.get(TIME_ZONE) or zone_of_longitude(basin.longitude or 0))


def chosen(session: Session, wanted: Sequence[str]) -> list[str]:
    """Return the full ids of the wanted basins, or of all stored ones when none is named."""
    if wanted:
        ids = unique(basin_id(text) for text in wanted)
        for basin in ids:
            basins.require(session, basin)
        return ids
    ids = basins.chosen(session)
    if not ids:
        raise InvalidInput("No basin is stored yet: ingest some first (freshet ingest camels --from FOLDER).")
    return ids


def chosen_to_learn_from(session: Session, wanted: Sequence[str], owner: str | None) -> list[str]:
    """Return the basins of a training: those named, or all; a version of the service learns from official ones alone.

    An administrator may name others. The owner is the operator's key that will own the version; None for the service's.
    """
    ids = chosen(session, wanted)
    return ids if wanted or owner is not None else ownership.official(session, ids)


def forcing_products(session: Session) -> list[str]:
    """Return the stored products that have every variable a network takes by default."""
    fields = InputsConfig(product="any")
    stored = [set(series.products(session, name)) for name in (fields.mass, *fields.auxiliary)]
    return sorted(set.intersection(*stored))


def with_model(session: Session, version: str | None) -> list[str]:
    """Return a version's basins; by default all with a current version, else all stored (`promotions.basins_of`)."""
    if version is not None:
        return promotions.basins_of(session, version)
    everything = chosen(session, [])
    current = promotions.current(session, everything)
    return [name for name in everything if name in current] or everything


def unique(ids: Iterable[str]) -> list[str]:
    """Return identifiers without duplicates, in their order."""
    return list(dict.fromkeys(ids))


_NEVER_ASSUMED = frozenset((*CLIMATE, *AREA_ATTRIBUTES))


@dataclass(frozen=True, slots=True)
class Attributes:
    """A basin's attributes as network input, (attributes,), all known."""

    values: npt.NDArray[np.float64]
    assumed: tuple[str, ...] = ()


def completed(
    basin: str,
    names: Sequence[str],
    values: npt.NDArray[np.float64],
    guesses: Mapping[str, float] | None,
    allowed: bool,
) -> Attributes | Absent:
    """Return a basin's attributes with none missing, or why they cannot be completed.

    Args:
        values: (attributes,) in the order of the names, NaN where one is not known.
        guesses: what may be assumed of each; None where there is no version yet: nothing is assumed.
        allowed: whether an operator allows attributes of the basin to be assumed.
    """
    unknown = [name for name, value in zip(names, values, strict=True) if np.isnan(value)]
    if not unknown:
        return Attributes(values)
    needed = [name for name in unknown if guesses is None or not allowed or name in _NEVER_ASSUMED]
    if needed:
        return _reason(basin, needed, may_assume=guesses is not None)
    assert guesses is not None
    guessed = np.array([guesses[name] for name in names])
    return Attributes(np.where(np.isnan(values), guessed, values), tuple(unknown))


def _reason(basin: str, needed: Sequence[str], may_assume: bool) -> Absent:
    climate = ", ".join(name for name in needed if name in CLIMATE)
    land = ", ".join(name for name in needed if name not in _NEVER_ASSUMED)
    remedies = []
    if climate:
        remedies.append(absent(Reason.COMPUTE_CLIMATE, attributes=climate, basin=basin))
    if any(name in AREA_ATTRIBUTES for name in needed):
        remedies.append(absent(Reason.GIVE_AREA, basin=basin))
    if land:
        give = Reason.GIVE_OR_ASSUME_ATTRIBUTES if may_assume else Reason.GIVE_ATTRIBUTES
        remedies.append(absent(give, attributes=land, basin=basin))
    remedy = reduce(lambda first, second: absent(Reason.REMEDIES, first=first, second=second), remedies)
    return absent(Reason.NO_ATTRIBUTES, basin=basin, attributes=", ".join(needed), remedy=remedy)
