"""Exports versions in the shipped form: an ensemble, or a combination with its parts; twins beside them."""

import re
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy.orm import Session

from extensions.shipping.writing import Finished, Written, write, write_combination
from hydrology.base.errors import InvalidInput
from models.pretrained import form
from models.pretrained.combination import Description, ShippedPart
from models.pretrained.form import Named
from records.database.base import to_json
from records.database.engine import Database
from records.versions import versions

Names = dict[str, str]
"""The folders of the versions of one export, by their ids."""


def export(database: Database, version_id: str, folder: Path) -> Written:
    """Write a version in the shipped form: the weights that it uses, in half precision.

    The parts of a combined version, and twins, are written into folders beside, in their names if they came with
    Freshet. Nothing is written where parts cannot be installed, or a folder holds another version; nothing of a version
    whose weights exceed half precision.
    """
    with database.reading() as session:
        return _export(session, versions.get(session, version_id), folder, {version_id: folder.name})


def _export(session: Session, version: versions.Version, folder: Path, names: Names) -> Written:
    _check_parts(session, version)
    parts = [
        (_beside(session, part.version, f"{folder.name}-{part.name}", folder, names), part) for part in version.combines
    ]
    twin = None
    if version.twin_id is not None and (not version.combines or versions.get(session, version.twin_id).combines):
        twin = _beside(session, version.twin_id, f"{folder.name}-twin", folder, names)
    if not version.combines:
        return ship(folder, version, versions.members_of(session, version.id), twin)
    shares = [
        ShippedPart(**dict(named), weight=part.weight, basin_weights=dict(part.basin_weights)) for named, part in parts
    ]
    return write_combination(folder, Description(parts=shares, twin=twin))


def _check_parts(session: Session, version: versions.Version) -> None:
    """Raise before anything is written where a combination, or its twin, could not be installed from its files.

    They name each part by its content and have it take the product that it learnt from.
    """
    for part in version.combines:
        if part.product != part.trained_on:
            raise InvalidInput(
                f"Part {part.version} of version {version.id} learnt from {part.trained_on} and takes {part.product}, "
                "which the shipped form does not hold: combine versions that take the product that they learnt from."
            )
    contents: dict[tuple[str, str], str] = {}
    for part in version.combines:
        content = (part.trained_on, versions.get(session, part.version).weights_hash)
        if (other := contents.setdefault(content, part.version)) != part.version:
            raise InvalidInput(
                f"Parts {other} and {part.version} of version {version.id} have the same members, so their files would "
                "be the same: combine different versions."
            )
    if version.combines and version.twin_id is not None:
        _check_parts(session, versions.get(session, version.twin_id))


def _beside(session: Session, version_id: str, name: str, folder: Path, names: Names) -> Named:
    version = versions.get(session, version_id)
    shipped = version.properties.pretrained
    chosen = names.setdefault(version_id, _folder_name(shipped.name if shipped else name))
    return Named(name=chosen, content=_export(session, version, folder.parent / chosen, names).content)


def _folder_name(name: str) -> str:
    return re.sub("[^a-z0-9]+", "-", name.lower()).strip("-")


def ship(
    folder: Path, version: versions.NewVersion, members: Sequence[versions.Member], twin: Named | None = None
) -> Written:
    """Write members of a version in the shipped form; it need not be stored or complete.

    Members that are in the folder already stay, so that a training's can be written as they finish. The twin is the
    ensemble shipped beside it that is scored for it.
    """
    tuning = version.properties.tuning
    inputs = version.config["inputs"] | {"product": version.trained_on}
    origin = form.Origin.model_validate(
        {
            "config": version.config | {"inputs": inputs},
            "scaler": version.scaler,
            "basins": sorted(version.basins),
            "attribute_ranges": version.properties.attribute_ranges,
            "data_hash": version.data_hash,
            "code_version": version.code_version,
            "uses": version.uses,
            "tuning": tuning and to_json(tuning),
            "twin": twin,
        }
    )
    return write(folder, origin, [Finished(one.label, one.seed, one.weights[version.uses], one.log) for one in members])
