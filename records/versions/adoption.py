"""Adoption: an administrator takes an operator's basin over, so that it becomes official, and can give it back.

With it go its levels, its rating and the version that serves it: the operator's key changes none of them from then on.
Its alerts end on one side and begin anew on the other.
"""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from hydrology.base.absent import absent
from hydrology.base.basins import is_agencys
from hydrology.base.errors import InvalidInput
from hydrology.base.reasons import Reason
from records.access.keys import KEYS
from records.alerts import settle_alerts
from records.basins import basins, ownership
from records.basins.ownership import AREAS, ATTRIBUTES, BASINS, TEXTS, Unofficial
from records.basins.ratings import RATINGS
from records.database.visibility import SHADOW
from records.levels.basin_levels import FLOOD_FREQUENCY, FORMER, SET_LEVELS
from records.runs import states
from records.versions import promotions, versions
from records.versions.promotions import PROMOTIONS
from records.versions.versions import VERSIONS
from runtime.clock import Clock


class NotAdopted(InvalidInput):
    """The basin was not adopted from an operator, so that there is nobody to give it back to."""

    status = 409
    remedy = "Release only a basin that was adopted: `adopted_from` of the audit trail names its owner."


class AlreadyOfficial(InvalidInput):
    """The basin is the service's already."""

    status = 409
    remedy = "There is nothing to adopt: read the basin's `kind`."


@dataclass(frozen=True, slots=True)
class Holdings:
    """What an operator's key holds of a basin.

    `levels` are names, `ratings` sources of rating tables; `version` is None where no version of the operator serves
    it.
    """

    owner: str
    owner_name: str
    levels: tuple[str, ...]
    ratings: tuple[str, ...]
    version: str | None

    def __str__(self) -> str:
        parts = (
            [f"levels {', '.join(self.levels[:5])}{' and others' if self.levels[5:] else ''}"] if self.levels else []
        )
        parts += [f"a rating by {', '.join(self.ratings[:5])}"] if self.ratings else []
        parts += [f"version {self.version}"] if self.version else []
        return f"the key of {self.owner_name} ({'; '.join(parts) or 'without levels, rating and version'})"


def holdings(session: Session, basin: str) -> Holdings | None:
    """Return what an operator's key holds of a basin; None where it is not an operator's or not stored."""
    owner = ownership.owner(session, basin)
    if owner in (None, SHADOW):
        return None
    levels = select(SET_LEVELS.c.name).where(SET_LEVELS.c.basin_id == basin).order_by(SET_LEVELS.c.name)
    ratings = select(RATINGS.c.source).where(RATINGS.c.basin_id == basin).distinct().order_by(RATINGS.c.source)
    version = promotions.current(session, [basin]).get(basin)
    return Holdings(
        owner,
        session.scalar(select(KEYS.c.name).where(KEYS.c.id == owner)) or owner,
        tuple(session.scalars(levels)),
        tuple(session.scalars(ratings)),
        version if version is not None and versions.owner_of(session, version) == owner else None,
    )


def adopt(session: Session, basin: str, clock: Clock) -> Holdings:
    """Make an operator's basin official, with its levels, rating and serving version."""
    held = _take(session, basin, clock)
    if held.version is not None:
        _hand_version(session, held.version, None, held.owner)
    return held


def claim(session: Session, basin: str, clock: Clock) -> None:
    """Make an operator's basin official; all that the operator stated is dropped."""
    held = _take(session, basin, clock)
    for table in (AREAS, ATTRIBUTES, TEXTS, SET_LEVELS, FORMER, FLOOD_FREQUENCY, RATINGS):
        session.execute(table.delete().where(table.c.basin_id == basin))
    theirs = select(VERSIONS.c.id).where(VERSIONS.c.owner == held.owner)
    session.execute(PROMOTIONS.delete().where(PROMOTIONS.c.basin_id == basin, PROMOTIONS.c.version_id.in_(theirs)))
    stated = ("name", "latitude", "longitude", "huc", "weather_points", "outline", "assume_attributes")
    session.execute(BASINS.update().where(BASINS.c.id == basin).values(dict.fromkeys(stated)))
    states.invalidate_all(session, basin, absent(Reason.ATTRIBUTE_REVISED), clock.wall())


def to_claim(session: Session, basin: str, *, adopt: bool) -> Holdings | None:
    """Return an operator's holdings of an agency's basin; None for nothing.

    Data of the service come for it: unless it may be claimed (`adopt`), an operator's basin raises Unofficial.
    """
    held = holdings(session, basin) if is_agencys(basin) else None
    if held is not None and not adopt:
        raise Unofficial(
            f"{basin} is unofficial: registered with {held}. Adopt it (--adopt; over the API `adopt`), which drops "
            "what that key stated of it, or leave it out."
        )
    return held


def release(session: Session, basin: str, clock: Clock) -> str:
    """Give an adopted basin back to its owner, as unofficial, and return that key.

    The version that serves it goes with it, unless it serves an official basin too.
    """
    basins.lock(session, basin)
    owner: str | None = session.scalar(select(BASINS.c.adopted_from).where(BASINS.c.id == basin))
    if owner is None:
        raise NotAdopted(f"{basin} was not adopted from an operator: there is nobody to give it back to.")
    _restart(session, basin, f"{basin} is no longer official.", clock)
    _change(session, basin, owner, None)
    version = promotions.current(session, [basin]).get(basin)
    served = promotions.in_use(session).get(version or "", [])
    if version is not None and not ownership.official(session, served):
        _hand_version(session, version, owner, None)
    return owner


def _take(session: Session, basin: str, clock: Clock) -> Holdings:
    basins.lock(session, basin)
    held = holdings(session, basin)
    if held is None:
        raise AlreadyOfficial(f"{basin} is official already: there is nothing to adopt.")
    _restart(session, basin, f"{basin} becomes official, and its alerts begin anew.", clock)
    _change(session, basin, None, held.owner)
    return held


def _change(session: Session, basin: str, registered_by: str | None, adopted_from: str | None) -> None:
    changed = BASINS.update().where(BASINS.c.id == basin)
    session.execute(changed.values(registered_by=registered_by, adopted_from=adopted_from))


def _hand_version(session: Session, version: str, owner: str | None, adopted_from: str | None) -> None:
    before = VERSIONS.c.owner == adopted_from if owner is None else VERSIONS.c.adopted_from == owner
    handed = VERSIONS.update().where(VERSIONS.c.id == version, before)
    session.execute(handed.values(owner=owner, adopted_from=adopted_from))


def _restart(session: Session, basin: str, why: str, clock: Clock) -> None:
    settle_alerts.restart(session, basin, why, settle_alerts.DecisionTime.by(clock))
