"""Versions that combine others: each part runs on its own weather product, and their flow is the weighted mean."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from math import fsum, isfinite

from sqlalchemy.orm import Session

from hydrology.base.digests import fingerprint
from hydrology.base.errors import InvalidInput
from hydrology.base.products import JOINT, MAX_PARTS
from records.versions import promotions, versions
from records.versions.version_properties import Pretrained, Tuning, VersionPart, VersionProperties
from records.versions.versions import NewVersion, Version
from runtime.release import code_version

ByBasin = Mapping[str, Mapping[str, float]]
"""Weights of the basins that have their own, by version."""


def combine(
    session: Session,
    weights: Mapping[str, float],
    *,
    label: str | None,
    wall: datetime,
    now: datetime,
    by_basin: ByBasin | None = None,
    pretrained: Pretrained | None = None,
    parent: str | None = None,
) -> Version:
    """Store a version that combines others, after one that combines their twins; or return the one that does already.

    Its parts stay versions of their own: their weights, states and snow cells are stored once. The weights of parts are
    above 0, of any sum; `wall` is the machine's time, `now` the clock's.
    """
    of_basins = dict(by_basin or {})
    for checked in (weights, *of_basins.values()):
        _check_weights(checked)
        if checked.keys() != weights.keys():
            raise InvalidInput("The weights of a basin must be of the versions to combine: give one of each.")
    stored = {version: versions.get(session, version) for version in weights}
    for part in stored.values():
        _check_part(part)
    twin = None
    if any(part.twin_id for part in stored.values()):
        of_twins = _of_twins(stored, weights)
        there = {basin: _of_twins(stored, own) for basin, own in of_basins.items()}
        of_twin = None if label is None else f"{label} (twin)"
        twin = min(of_twins)
        if len(of_twins) > 1:
            twin = combine(session, of_twins, label=of_twin, wall=wall, now=now, by_basin=there).id
    parts = _parts(stored, weights, of_basins)
    for earlier in versions.of_weights(session, versions.weights_hash_of(session, parts)):
        if earlier.combines == parts and earlier.twin_id == twin and earlier.status == "ready":
            return earlier
    if pretrained is not None:
        pretrained = replace(pretrained, twin=twin)
    tuned = [stored[part.version].tuned_on for part in parts]
    tuning = None
    if None not in tuned:
        tuning = Tuning(basins=tuple(dict.fromkeys(basin for of_part in tuned for basin in of_part or ())))
    properties = VersionProperties(parts=parts, twin=twin, tuning=tuning, pretrained=pretrained)
    new = replace(_new(stored, properties, label=label, wall=wall, now=now), parent_id=parent)
    return versions.create(session, new, [])


def _check_weights(weights: Mapping[str, float]) -> None:
    if not 2 <= len(weights) <= MAX_PARTS:
        raise InvalidInput(f"Name two to {MAX_PARTS} different versions to combine, not {len(weights)}.")
    if wrong := [version for version, weight in weights.items() if not (isfinite(weight) and weight > 0)]:
        raise InvalidInput(f"The weight of version {wrong[0]} must be a number above 0: correct it, or leave it out.")


def _check_part(version: Version) -> None:
    version.require_members("Combining")
    promotions.require_usable(version)
    if version.owner is not None:
        raise InvalidInput(
            f"Version {version.id} was trained with an operator's key: combine versions of the service only."
        )


def _of_twins(stored: Mapping[str, Version], weights: Mapping[str, float]) -> dict[str, float]:
    of_twins: dict[str, float] = {}
    for part in stored.values():
        of_twins[part.scored_as] = of_twins.get(part.scored_as, 0.0) + weights[part.id]
    return of_twins


def _parts(stored: Mapping[str, Version], weights: Mapping[str, float], by_basin: ByBasin) -> tuple[VersionPart, ...]:
    total = fsum(weights.values())
    names = _names(stored)
    parts = [
        replace(
            part.parts[0],
            name=names[part.id],
            weight=weights[part.id] / total,
            basin_weights={basin: own[part.id] / fsum(own.values()) for basin, own in by_basin.items()},
        )
        for part in stored.values()
    ]
    return tuple(sorted(parts, key=lambda part: (-part.weight, part.name)))


def _names(stored: Mapping[str, Version]) -> dict[str, str]:
    names = {version: part.product for version, part in stored.items()}
    for longer in (lambda part: f"{part.product}-{part.architecture}", None):
        shared = {name for name, count in Counter(names.values()).items() if count > 1}
        numbers = Counter[str]()
        for version, name in names.items():
            if name in shared:
                numbers[name] += 1
                names[version] = longer(stored[version]) if longer else f"{name}-{numbers[name]}"
    return names


def _new(
    stored: Mapping[str, Version], properties: VersionProperties, *, label: str | None, wall: datetime, now: datetime
) -> NewVersion:
    in_order = [stored[part.version] for part in properties.parts]
    return NewVersion(
        created_at=wall,
        issued_at=now,
        architecture=JOINT.join(dict.fromkeys(part.architecture for part in properties.parts)),
        conserving=all(version.conserving for version in in_order),
        product=JOINT.join(dict.fromkeys(part.product for part in properties.parts)),
        config={},
        scaler={},
        basins=tuple(sorted({basin for version in in_order for basin in version.basins})),
        data_hash=fingerprint([version.data_hash for version in in_order]),
        code_version=code_version(),
        uses=in_order[0].uses,
        label=label,
        properties=properties,
    )
