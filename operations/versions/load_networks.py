"""Loads a version's networks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.arrays import Array
from hydrology.base.errors import DataProblem
from jobspec.training import TrainingConfig
from models import checkpoint
from models.checkpoint import Tensors
from models.devices import device_in_use
from models.ensemble import Ensemble
from models.forcing import Scaler
from records.versions import versions
from records.versions.version_properties import UNNAMED, VersionPart


@dataclass(frozen=True, slots=True)
class LoadedVersion:
    """A version with its ensemble, or with its parts, the largest weight first."""

    version: versions.Version
    own: Ensemble | None
    combines: "tuple[LoadedPart, ...]" = ()

    @property
    def parts(self) -> "tuple[LoadedPart, ...]":
        """Its parts: those that it combines, or itself alone."""
        return self.combines or (LoadedPart(self.version.parts[0], self),)

    @property
    def ensemble(self) -> Ensemble:
        """Its own members; a version that combines others raises: work that does not know of parts stops here."""
        self.version.require_members("This work")
        assert self.own is not None
        return self.own

    @property
    def config(self) -> TrainingConfig:
        """The configuration it was trained with; a version that combines others raises."""
        return self.ensemble.config

    @property
    def labels(self) -> list[str]:
        """The members' labels, as in runs and scores."""
        return [label for one in self.version.parts for label in one.labels]

    @property
    def shares(self) -> "list[tuple[str, dict[str, float], LoadedVersion]]":
        """Name, weights by basin and networks of each part."""
        return [(one.part.name, one.part.weights, one.loaded) for one in self.parts]


@dataclass(frozen=True, slots=True)
class LoadedPart:
    part: VersionPart
    loaded: LoadedVersion


def member_weights(parts: Sequence[VersionPart]) -> Array | None:
    """Return the weight of each member of some parts, of all 1, (members,). A part's members share its weight.

    None for the only part of a version with members of its own: all are equal.
    """
    if parts[0].name == UNNAMED:
        return None
    weights: Array = np.concatenate([np.full(len(part.members), part.weight / len(part.members)) for part in parts])
    return np.asarray(weights / weights.sum())


def weights_of(version: versions.Version, member: versions.Member) -> Tensors:
    tensors, _ = checkpoint.parse(member.weights[version.uses])
    if names := checkpoint.not_finite(tensors):
        raise DataProblem(
            f"The weights of member {member.label} of version {version.id} hold values that are not finite "
            f"({', '.join(names)}): restore them from a backup, or train another version."
        )
    return tensors


def load_version(session: Session, version_id: str) -> LoadedVersion:
    """Load a version with the weights that it uses, or the parts that it combines, on the device in use."""
    version = versions.get(session, version_id)
    if version.combines:
        combines = tuple(LoadedPart(part, load_version(session, part.version)) for part in version.combines)
        return LoadedVersion(version, None, combines)
    weights = {member.label: weights_of(version, member) for member in versions.members_of(session, version_id)}
    config = TrainingConfig.model_validate(version.config)
    scaler = Scaler.from_json(version.scaler)
    return LoadedVersion(version, Ensemble.load(config, scaler, weights, version.basins, device_in_use()))
