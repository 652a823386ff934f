"""Loads a shipped ensemble's networks."""

from hydrology.base.digests import fingerprint
from models import checkpoint
from models.ensemble import Ensemble
from models.pretrained import form
from models.saved_state import Owner
from models.scaling import Scaler


def load(shipped: form.Ensemble) -> Ensemble:
    description = shipped.description
    weights = {label: checkpoint.parse(content)[0] for label, content in shipped.weights.items()}
    return Ensemble.load(description.config, Scaler.from_json(description.scaler), weights, description.basins)


def owner(shipped: form.Ensemble) -> Owner:
    """Return the owner of a shipped ensemble's states. The same as that of its installed version."""
    hashes = sorted([member.label, member.sha256] for member in shipped.description.members)
    return Owner(fingerprint(hashes), shipped.description.config.inputs.product)
