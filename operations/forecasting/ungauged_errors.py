"""Error models for basins without observations: regional parameters, scaled by simulated flow."""

from collections.abc import Mapping, Sequence

import numpy as np
import structlog

from hydrology.base.absent import Absent
from models.inference import GROUP
from operations.basin_data.dataset import BasinForcing, stacked
from operations.forecasting.calibrated_flow import MIN_DAYS, error_model_of
from operations.versions.load_networks import LoadedVersion
from operations.versions.stages import with_progress
from records.database.engine import Database
from records.versions import error_models

log = structlog.get_logger()


def error_model_for(
    database: Database, loaded: LoadedVersion, forcings: Mapping[str, BasinForcing]
) -> error_models.ErrorModel | Absent:
    """Return a version's error model with regional parameters added for basins never seen; or why there is none."""
    add_ungauged(database, loaded, forcings)
    with database.reading() as session:
        return error_model_of(session, loaded.version, list(forcings))


def add_ungauged(database: Database, loaded: LoadedVersion, forcings: Mapping[str, BasinForcing]) -> None:
    """Store regional error models for the version's basins that its error model lacks."""
    long = [name for name, forcing in forcings.items() if len(forcing.period) >= MIN_DAYS]
    with database.reading() as session:
        model = error_model_of(session, loaded.version, [])
        if isinstance(model, Absent):
            return
        unmet = {name: forcings[name] for name in error_models.unmet(session, model.version_id, long)}
    for record in sorted({forcing.period for forcing in unmet.values()}, key=str):
        names = [name for name, forcing in unmet.items() if forcing.period == record]
        for first in with_progress("error models, groups of basins", range(0, len(names), GROUP)):
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
    log.info("calibrated.regional", version=model.version_id, basins=names)
