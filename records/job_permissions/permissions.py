"""Permissions of a job, by the key that posted it: checked when it is posted, and again before it runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from typing import Any

from sqlalchemy.orm import Session

from hydrology.base.basins import basin_id
from hydrology.base.errors import InvalidInput
from jobspec.jobs.base import JobRequest, Role, Subject
from jobspec.kinds import RECORDS, named
from records.access import keys
from records.access.keys import Key, Scope
from records.basins import basins, ownership, regions
from records.feeds import feeds
from records.jobs.jobs import Job
from records.runs.run_types import Purpose
from records.versions import versions
from records.weather import bridges


class NotAllowed(InvalidInput):
    """The key does not permit this job: another key, or another request, is needed."""

    status = 403
    remedy = "Leave out records of other owners, use their owner's key, or use an admin's key."


@dataclass(frozen=True, slots=True)
class Grant:
    """The permissions that a job runs with. A job without a key belongs to the service, and has an admin's."""

    role: Role = "admin"
    key_id: str | None = None
    name: str | None = None
    scope: Scope = "admin"
    region: str | None = None

    @property
    def is_official(self) -> bool:
        return self.role == "admin"

    @property
    def owner(self) -> str | None:
        return None if self.is_official else self.key_id

    @property
    def purpose(self) -> Purpose:
        """The purpose of issued forecasts: only operational ones become the latest."""
        return "operational" if self.is_official else "on-request"


SERVICE = Grant()
"""Permissions of the service itself, and of the command line."""


def of_key(key: Key, request: JobRequest | None = None) -> Grant:
    """Return the permissions of a key, for a job those that its kind gives to the key's scope."""
    official = key.is_admin or (key.is_forecaster and request is not None and request.authority.forecasters)
    return Grant("admin" if official else "operator", key.id, key.name, key.scope, key.region)


def of_job(session: Session, job: Job, request: JobRequest, at: datetime) -> Grant:
    """Return the permissions that a job runs with: those that its key has now (by the machine's time)."""
    if job.key_id is None:
        return SERVICE
    grant = of_key(_valid_key(session, job, job.key_id, at), request)
    require(session, grant, request, resumed=job.plan is not None)
    return grant


def require(session: Session, grant: Grant, request: JobRequest, *, resumed: bool = False) -> None:
    """Check whether a job may be posted and run, by its request. Where an earlier attempt has stored its plan
    (`resumed`), what it has created is there already."""
    if grant.is_official:
        if grant.region is not None:
            _require_region(session, grant, request)
        return
    authority, result = request.authority, request.model_dump(by_alias=True)["params"]
    if not authority.operators:
        remedy = _FORECASTER if authority.forecasters else _ADMIN
        raise NotAllowed(f"{_of(grant)} may not run a job of the kind {request.kind}. {authority.note} {remedy}")
    for name, value in authority.admins.items():
        given = _at(result, name)
        if given is not None and value in (None, given):
            shown = "" if value is None else f" to {given}"
            raise NotAllowed(f"{_of(grant)} may not set `{name}` of a job of the kind {request.kind}{shown}. {_ADMIN}")
    for name, subject in authority.names.items():
        given = _at(result, name)
        if given is not None and not (resumed and subject in _CREATED):
            _SUBJECTS[subject](session, grant, result, given)
    if authority.promotes is not None and _at(result, authority.promotes) and result["basins"]:
        _require_basins(session, grant, result, result["basins"])


def version_of(session: Session, grant: Grant, version: str | None) -> str:
    """Return a job's version: the named one, or its owner's newest."""
    return version or versions.newest(session, grant.owner).id


def writable(session: Session, grant: Grant) -> list[str] | None:
    return None if grant.is_official else basins.registered_with(session, grant.key_id)


def require_free_product(session: Session, grant: Grant, product: str) -> None:
    """Refuse a product that a feed of the service fills, for an operator's table."""
    if not grant.is_official:
        feeds.require_free_product(session, product)


def register(session: Session, grant: Grant, basin: str) -> bool:
    """Register a new basin with an operator's key, and return whether it was new; refuse another's. This has to happen
    before its data are stored."""
    if grant.is_official:
        return False
    _require_new_basins(session, grant, {}, [basin])
    return basins.register(session, basin, grant.key_id)


_FORECASTER = "Use a forecaster's key (`freshet keys make NAME --scope forecaster`), an admin's, or the command line."
_ADMIN = "Use an admin's key (`freshet keys make NAME --scope admin`), or the command line."


def _of(grant: Grant) -> str:
    return f"The key of {grant.name}, which has the scope {grant.scope},"


def _valid_key(session: Session, job: Job, key_id: str, at: datetime) -> Key:
    created = f"schedule {job.schedule_id} was created with" if job.schedule_id else "job was posted with"
    anew = "Create it again with a valid key, or by command." if job.schedule_id else "Post it with a valid key."
    try:
        key = keys.get(session, key_id)
    except keys.UnknownKey:
        raise NotAllowed(f"The key {key_id} that the {created} is not stored here. {anew}") from None
    for ended, word in ((key.revoked_at, "was revoked"), (key.expires_at, "expired")):
        if ended is not None and ended <= at:
            raise NotAllowed(f"The key of {key.name} that the {created} {word} at {ended.isoformat()}. {anew}")
    return key


def _at(params: Any, name: str) -> Any:
    """Return a parameter by name (`fit.model`: a field of a field); None if it is not set."""
    return reduce(lambda within, part: within.get(part) if within else None, name.split("."), params)


def _require_region(session: Session, grant: Grant, request: JobRequest) -> None:
    """Refuse basins outside the region of a job that is the service's own; one that names none is of all."""
    names = [parameter.value for parameter in named(request.params) if RECORDS.get(parameter.name) == "basin"]
    if not names:
        raise NotAllowed(
            f"{_of(grant)} is for the region {grant.region}, and without names of basins the job would change those of "
            "all regions: name basins of the region, or use a key without a region."
        )
    regions.require_within(session, grant.region, names, key=grant.name)


def _require_basins(session: Session, grant: Grant, _params: Mapping[str, Any], given: str | Sequence[str]) -> None:
    names = [basin_id(text) for text in ([given] if isinstance(given, str) else given)]
    regions.require_within(session, grant.region, names, key=grant.name)
    own = set(basins.registered_with(session, grant.key_id))
    if others := [basin for basin in basins.known(session, names) if basin not in own]:
        raise NotAllowed(
            f"{', '.join(others[:5])}{' and others' if others[5:] else ''}: not registered with the key of "
            f"{grant.name}. Leave them out, use the key that registered them, or an admin's."
        )


def _require_new_basins(session: Session, grant: Grant, params: Mapping[str, Any], given: str | Sequence[str]) -> None:
    _require_basins(session, grant, params, given)
    names = [basin_id(text) for text in ([given] if isinstance(given, str) else given)]
    for basin in set(names) - set(basins.known(session, names)):
        ownership.require_free_name(session, basin)


def _require_version(session: Session, grant: Grant, _params: Mapping[str, Any], given: str) -> None:
    if versions.owner_of(session, given) != grant.key_id:
        raise NotAllowed(
            f"Version {given} is not stored under the key of {grant.name}, and its records belong to others. "
            f"Name a version that was trained with this key. {_ADMIN}"
        )


def _require_feed(session: Session, grant: Grant, _params: Mapping[str, Any], given: str) -> None:
    if feeds.get(session, given).created_by != grant.key_id:
        raise NotAllowed(
            f"The feed {given} was not created with the key of {grant.name}: use the key that created it. {_ADMIN}"
        )


def _require_new_bridge(session: Session, grant: Grant, result: Mapping[str, Any], _given: object) -> None:
    if bridges.is_stored(session, result["name"]):
        raise NotAllowed(
            f"The bridge {result['name']} exists, and forecasts may use it: with the key of {grant.name} fit one under "
            f"a new name. {_ADMIN}"
        )


_SUBJECTS: Mapping[Subject, Callable[[Session, Grant, Mapping[str, Any], Any], None]] = {
    "basin": _require_basins,
    "new basin": _require_new_basins,
    "version": _require_version,
    "feed": _require_feed,
    "new bridge": _require_new_bridge,
}
_CREATED: tuple[Subject, ...] = ("new bridge",)
"""What a job itself creates, with its plan."""
