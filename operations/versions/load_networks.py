"""Loads a version's networks."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from hydrology.base.errors import DataProblem
from jobspec.training import TrainingConfig
from models import checkpoint
from models.checkpoint import Tensors
from models.devices import device_in_use
from models.ensemble import Ensemble
from models.scaling import Scaler
from records.versions import versions


@dataclass(frozen=True, slots=True)
class LoadedVersion:
    """A version and its ensemble."""

    version: versions.Version
    ensemble: Ensemble

    @property
    def config(self) -> TrainingConfig:
        """The configuration it was trained with."""
        return self.ensemble.config

    @property
    def labels(self) -> list[str]:
        """The members' labels, as in runs and scores."""
        return [str(label) for label in self.ensemble.labels]


def weights_of(version: versions.Version, member: versions.Member) -> Tensors:
    """Return the weights that a version uses for a member.

    Raises:
        DataProblem: they are damaged or not finite: a single NaN would affect every forecast.
    """
    tensors, _ = checkpoint.parse(member.weights[version.uses])
    if names := checkpoint.not_finite(tensors):
        raise DataProblem(
            f"The weights of member {member.label} of version {version.id} hold values that are not finite "
            f"({', '.join(names)}): restore them from a backup, or train another version."
        )
    return tensors


def load_version(session: Session, version_id: str) -> LoadedVersion:
    """Load a version with the weights that it uses, on the device in use.

    Raises:
        UnknownVersion: there is none of that id.
        Corrupt, DataProblem: stored weights are damaged.
    """
    version = versions.get(session, version_id)
    weights = {member.label: weights_of(version, member) for member in versions.members_of(session, version_id)}
    config = TrainingConfig.model_validate(version.config)
    scaler = Scaler.from_json(version.scaler)
    return LoadedVersion(version, Ensemble.load(config, scaler, weights, version.basins, device_in_use()))
