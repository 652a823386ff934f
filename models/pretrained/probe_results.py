"""Results of the physics probes of shipped ensembles, measured when they were shipped.

`physics.json` is written by `python -m benchmarks.regional ship-physics`. An ensemble is found there by the fingerprint
of its description, which covers its weights: one that is not of the shelf cannot have the results of another.
"""

from collections.abc import Mapping
from functools import lru_cache

from pydantic import TypeAdapter

from hydrology.water.probes import ProbeResult
from models import physics
from models.pretrained import SHELF, form
from models.pretrained.form import Ensemble

FILE = SHELF / "physics.json"
BY_CONTENT = TypeAdapter(Mapping[str, tuple[ProbeResult, ...]])


def probe_results(shipped: Ensemble) -> tuple[ProbeResult, ...]:
    """Return the results of an ensemble's physics probes: as shipped with Freshet, or else measured now."""
    return _measured_before().get(shipped.content) or measure(shipped)


def measure(shipped: Ensemble) -> tuple[ProbeResult, ...]:
    """Run the physics probes on a shipped ensemble, for seconds."""
    inputs = shipped.description.config.inputs
    return physics.measure(form.load(shipped).networks, len(inputs.auxiliary), len(inputs.static))


@lru_cache(maxsize=1)
def _measured_before() -> Mapping[str, tuple[ProbeResult, ...]]:
    return BY_CONTENT.validate_json(form.read_file(FILE))
