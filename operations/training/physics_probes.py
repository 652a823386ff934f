"""What the probes of physics find of a version, before it is kept."""

from collections.abc import Sequence

from hydrology.water.probe_results import ProbeResult
from jobspec.training import TrainingConfig
from models import checkpoint
from models.ensemble import Ensemble
from models.physics import measure
from models.scaling import Scaler
from operations.versions.stages import single
from records.versions.versions import Member, NewVersion


def measured(version: NewVersion, members: Sequence[Member]) -> tuple[ProbeResult, ...] | None:
    """Return what the probes find of the weights that a version uses; None without members."""
    if not members:
        return None
    weights = {member.label: checkpoint.parse(member.weights[version.uses])[0] for member in members}
    config = TrainingConfig.from_stored(version.config)
    ensemble = Ensemble.load(config, Scaler.from_json(version.scaler), weights, version.basins)
    sizes = len(config.inputs.auxiliary), len(config.inputs.static)
    return single("physics probes", lambda: measure(ensemble.networks, *sizes))
