"""Puts basins and versions into the shadow, and ends that once the gates are met."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import select
from sqlalchemy.orm import Session

from extensions.shadow.gates import Gate, gates
from extensions.shadow.settings import ShadowSettings
from hydrology.base.errors import InvalidInput
from records.alerts import settle_alerts
from records.basins import basins, ownership
from records.basins.ownership import BASINS, Unofficial
from records.database.visibility import SHADOW
from records.versions import promotions, versions
from records.versions.versions import VERSIONS
from runtime.clock import Clock

Subject = Literal["basin", "version"]


class NotInShadow(InvalidInput):
    """The basin or the version is not in the shadow: there is nothing to end."""

    status = 409
    remedy = "`freshet shadow show` lists what is."


class NotPublicYet(InvalidInput):
    """The gates between the shadow and the public are not met."""

    status = 409
    remedy = "Wait until they are, or change the settings FRESHET_SHADOW_*."


class InUse(InvalidInput):
    """The version serves public basins."""

    status = 409
    remedy = "Promote another version for them, or roll this one back."


@dataclass(frozen=True, slots=True)
class Shadowed:
    """A basin or a version in the shadow, its name for people, the version that forecasts, and how far it is."""

    subject: Subject
    id: str
    name: str | None
    version: str | None
    gates: list[Gate]

    @property
    def is_ready(self) -> bool:
        return all(gate.is_met for gate in self.gates)


def in_shadow(session: Session, clock: Clock) -> list[Shadowed]:
    names = basins.registered_with(session, SHADOW)
    of_versions = session.scalars(select(VERSIONS.c.id).where(VERSIONS.c.owner == SHADOW).order_by(VERSIONS.c.id))
    found = [basin_in_shadow(session, name, clock) for name in names]
    return found + [version_in_shadow(session, version, clock) for version in of_versions]


def basin_in_shadow(session: Session, basin: str, clock: Clock) -> Shadowed:
    version = promotions.current(session, [basin]).get(basin)
    reached = gates(session, version, [basin], clock.today(), ShadowSettings.load())
    return Shadowed("basin", basin, basins.get(session, basin).name, version, reached)


def version_in_shadow(session: Session, version: str, clock: Clock) -> Shadowed:
    stored = versions.get(session, version)
    reached = gates(session, version, promotions.basins_here(session, stored), clock.today(), ShadowSettings.load())
    return Shadowed("version", version, stored.label, version, reached)


def start_basin(session: Session, basin: str, clock: Clock) -> bool:
    """Put a basin into the shadow, one that is not stored yet too; return whether it was not. Its alerts end."""
    if basins.register(session, basin, SHADOW):
        return True
    basins.lock(session, basin)
    owner = ownership.owner(session, basin)
    if owner not in (None, SHADOW):
        raise Unofficial(f"{basin} belongs to an operator: adopt it before it goes into the shadow.")
    if owner is None:
        _restart(session, basin, f"{basin} is not public for a time: its alerts end.", clock)
        session.execute(BASINS.update().where(BASINS.c.id == basin).values(registered_by=SHADOW))
    return owner is None


def start_version(session: Session, version: str) -> bool:
    """Put a version, with its twin, into the shadow; return whether it was not."""
    stored = versions.get(session, version)
    if stored.owner not in (None, SHADOW):
        raise Unofficial(f"Version {version} belongs to an operator: it is not the service's.")
    hidden = {*basins.registered_with(session, SHADOW)}
    if public := [basin for basin in promotions.in_use(session).get(version, []) if basin not in hidden]:
        raise InUse(f"Version {version} serves {', '.join(public[:5])}{' and others' if public[5:] else ''}.")
    _hand(session, stored, SHADOW)
    return stored.owner is None


def end_basin(session: Session, basin: str, clock: Clock) -> Shadowed:
    """Make a basin public; its alerts begin anew. NotPublicYet where a gate is not met."""
    basins.lock(session, basin)
    if ownership.owner(session, basin) != SHADOW:
        raise NotInShadow(f"{basin} is not in the shadow.")
    shadowed = basin_in_shadow(session, basin, clock)
    _require_ready(shadowed)
    if shadowed.version is not None and versions.owner_of(session, shadowed.version) == SHADOW:
        raise NotPublicYet(
            f"{basin} is forecast by version {shadowed.version}, which is in the shadow: end that first."
        )
    _restart(session, basin, f"{basin} becomes public, and its alerts begin anew.", clock)
    session.execute(BASINS.update().where(BASINS.c.id == basin).values(registered_by=None))
    return shadowed


def end_version(session: Session, version: str, clock: Clock) -> Shadowed:
    """Make a version public, with its twin: it can be promoted then. NotPublicYet where a gate is not met."""
    stored = versions.get(session, version)
    if stored.owner != SHADOW:
        raise NotInShadow(f"Version {version} is not in the shadow.")
    shadowed = version_in_shadow(session, version, clock)
    _require_ready(shadowed)
    _hand(session, stored, None)
    return shadowed


def _require_ready(shadowed: Shadowed) -> None:
    if failed := [str(gate) for gate in shadowed.gates if not gate.is_met]:
        raise NotPublicYet(f"{shadowed.id} stays in the shadow. {'; '.join(failed)}.")


def _restart(session: Session, basin: str, why: str, clock: Clock) -> None:
    settle_alerts.restart(session, basin, why, settle_alerts.DecisionTime.by(clock))


def _hand(session: Session, version: versions.Version, owner: str | None) -> None:
    names = VERSIONS.c.id.in_([version.id, *filter(None, [version.twin_id])])
    session.execute(VERSIONS.update().where(names).values(owner=owner))
