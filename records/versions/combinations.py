"""Versions that combine others: each part runs on its own weather product, and their flow is the weighted mean."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from importlib import metadata
from math import isfinite

from sqlalchemy.orm import Session

from hydrology.base.digests import fingerprint
from hydrology.base.errors import InvalidInput
from hydrology.base.products import JOINT
from records.versions import promotions, versions
from records.versions.version_properties import Tuning, VersionPart, VersionProperties
from records.versions.versions import NewVersion, Version

MAX_PARTS = 10


def combine(
    session: Session,
    weights: Mapping[str, float],
    *,
    label: str | None,
    wall: datetime,
    now: datetime,
    parent: str | None = None,
) -> Version:
    """Store a version that combines others, after one that combines their twins; or return the one that does already.

    Its parts stay versions of their own: their weights, states and snow cells are stored once.

    Args:
        weights: of each part, by its version; of any sum.
        wall, now: the machine's time and the clock's.
        parent: the combined version whose parts these were fine-tuned from, if any.

    Raises:
        UnknownVersion: one is not stored.
        InvalidInput: they are too few or too many, a weight is not above 0, or a version cannot be a part.
    """
    _check_weights(weights)
    stored = {version: versions.get(session, version) for version in weights}
    for part in stored.values():
        _check_part(part)
    twin = None
    if any(part.twin_id for part in stored.values()):
        of_twins: dict[str, float] = {}
        for part in stored.values():
            name = part.twin_id or part.id
            of_twins[name] = of_twins.get(name, 0.0) + weights[part.id]
        of_twin = None if label is None else f"{label} (twin)"
        twin = combine(session, of_twins, label=of_twin, wall=wall, now=now).id if len(of_twins) > 1 else min(of_twins)
    parts = _parts(stored, weights)
    new = replace(_new(stored, parts, twin, label=label, wall=wall, now=now), parent_id=parent)
    for earlier in versions.of_weights(session, versions.weights_hash_of(session, parts)):
        if earlier.parts == parts and earlier.twin_id == twin and earlier.status == "ready":
            return earlier
    return versions.create(session, new, [])


def _check_weights(weights: Mapping[str, float]) -> None:
    if not 2 <= len(weights) <= MAX_PARTS:
        raise InvalidInput(f"Name two to {MAX_PARTS} different versions to combine, not {len(weights)}.")
    if wrong := [version for version, weight in weights.items() if not (isfinite(weight) and weight > 0)]:
        raise InvalidInput(f"The weight of version {wrong[0]} must be a number above 0: correct it, or leave it out.")


def _check_part(version: Version) -> None:
    """Raise where a version cannot be a part."""
    version.require_members("Combining")
    promotions.require_usable(version)
    if version.owner is not None:
        raise InvalidInput(
            f"Version {version.id} was trained with an operator's key: combine versions of the service only."
        )


def _parts(stored: Mapping[str, Version], weights: Mapping[str, float]) -> tuple[VersionPart, ...]:
    """Return the parts, the largest weight first."""
    total = sum(weights.values())
    names = _names(stored)
    parts = [
        VersionPart(
            version=part.id,
            name=names[part.id],
            product=part.product,
            trained_on=part.trained_on,
            architecture=part.architecture,
            weight=weights[part.id] / total,
            members=part.members,
            fitted=tuple(map(str, part.fitted_periods)),
            validation=None if part.validation_period is None else str(part.validation_period),
        )
        for part in stored.values()
    ]
    return tuple(sorted(parts, key=lambda part: (-part.weight, part.name)))


def _names(stored: Mapping[str, Version]) -> dict[str, str]:
    """Return a short name of each part: its product, with its architecture and a number where others share it."""
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
    stored: Mapping[str, Version],
    parts: tuple[VersionPart, ...],
    twin: str | None,
    *,
    label: str | None,
    wall: datetime,
    now: datetime,
) -> NewVersion:
    in_order = [stored[part.version] for part in parts]
    return NewVersion(
        created_at=wall,
        issued_at=now,
        architecture=JOINT.join(dict.fromkeys(part.architecture for part in parts)),
        conserving=all(version.conserving for version in in_order),
        product=JOINT.join(dict.fromkeys(part.product for part in parts)),
        config={},
        scaler={},
        basins=tuple(sorted({basin for version in in_order for basin in version.basins})),
        data_hash=fingerprint([version.data_hash for version in in_order]),
        code_version=metadata.version("freshet"),
        uses=in_order[0].uses,
        label=label,
        properties=VersionProperties(parts=parts, twin=twin, tuning=_tuning(in_order)),
    )


def _tuning(parts: Sequence[Version]) -> Tuning | None:
    """Return the fine-tuning of a version all of whose parts were fine-tuned: on the basins of any."""
    tuned = [part.tuned_on for part in parts if part.tuned_on is not None]
    if len(tuned) < len(parts):
        return None
    return Tuning(basins=tuple(dict.fromkeys(basin for of_part in tuned for basin in of_part)))
