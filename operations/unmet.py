"""Basins that an error model has not met: they get the numbers of all basins, scaled by what is simulated of each."""

from collections.abc import Mapping, Sequence

import numpy as np
import structlog

from models.inference import GROUP
from operations.calibrated import error_model_of
from operations.dataset import BasinForcing, stacked
from operations.loading import LoadedVersion
from records import error_models
from records.engine import Database

log = structlog.get_logger()

LEAST_DAYS = 3 * 365
"""Of forcing: of fewer, nobody can say which flows are high in a basin."""


def add_unmet(database: Database, loaded: LoadedVersion, forcings: Mapping[str, BasinForcing]) -> None:
    """Keep the errors of basins that the error model of a version has none of, where it serves basins never seen."""
    with database.reading() as session:
        model = error_model_of(session, loaded.version, list(forcings))
    if isinstance(model, str) or not model.for_unseen:
        return
    unmet = {
        name: forcing
        for name, forcing in forcings.items()
        if name not in model.basins and len(forcing.period) >= LEAST_DAYS
    }
    for record in sorted({forcing.period for forcing in unmet.values()}, key=str):
        names = [name for name, forcing in unmet.items() if forcing.period == record]
        for first in range(0, len(names), GROUP):
            _add(database, loaded, model, unmet, names[first : first + GROUP])


def _add(
    database: Database,
    loaded: LoadedVersion,
    model: error_models.ErrorModel,
    forcings: Mapping[str, BasinForcing],
    names: Sequence[str],
) -> None:
    forcing = stacked([forcings[name].forcing for name in names])
    outputs, _ = loaded.ensemble.simulate(forcing, None, ("discharge",))
    flows = outputs["discharge"].mean(axis=0, dtype=np.float64)
    errors = {name: model.regional.of_basin(flow[np.isfinite(flow)]) for name, flow in zip(names, flows, strict=True)}
    with database.transaction() as session:
        error_models.add_basins(session, model, errors)
    log.info("calibrated.unmet", version=model.version_id, basins=names)
