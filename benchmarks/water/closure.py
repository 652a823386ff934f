"""How much of the water since the empty store honest float32 leaves unexplained, over whole records of real basins.

A version runs from the empty store on the first day of its record to the last. Every day and
member has a residual, held against the precipitation until then (the store began empty). FRESHET_DATA names a data
folder with basins and a version in use; where there are several, the one that most basins use is taken.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.water.ledger import WATER_SINCE_EMPTY
from models.ensemble import Ensemble
from models.forcing import Forcing
from models.nets.layers import BLOCK
from operations.basin_data.dataset import BasinForcing, load_forcing, stacked
from operations.versions.load_networks import load_version
from records.database.engine import Database
from records.versions import promotions
from runtime.settings import Settings

YEAR = 365

Residuals = npt.NDArray[np.float64]


def measure() -> dict[str, Any]:
    """Return the largest |residual| / precipitation since the empty store, by span of days, and its bound."""
    database = Database(Settings.load().database_url)
    with database.reading() as session:
        in_use = promotions.in_use(session)
        if not in_use:
            raise SystemExit("No version is in use: install one (freshet models install-pretrained --promote).")
        version, names = max(in_use.items(), key=lambda item: len(item[1]))
        loaded = load_version(session, version)
        forcings = [load_forcing(session, name, loaded.config) for name in names]
    ready = [forcing for forcing in forcings if isinstance(forcing, BasinForcing)]
    days = min(len(forcing.period) for forcing in ready)
    blocks = [
        _relative_residuals(loaded.ensemble, stacked([basin.forcing for basin in ready[first : first + BLOCK]]))
        for first in range(0, len(ready), BLOCK)
    ]
    relative = np.concatenate([block[..., :days] for block in blocks], axis=1)
    worst, last = np.abs(relative).max(axis=-1), np.abs(relative[..., -1])
    return {
        "basins": relative.shape[1],
        "members": relative.shape[0],
        "days": days,
        "bound": WATER_SINCE_EMPTY.tolerance,
        "worst_of_any_day": float(worst.max()),
        "worst_after_the_first_year": float(np.abs(relative[..., YEAR:]).max()),
        "at_the_end": {"median": float(np.median(last)), "worst": float(last.max())},
        "within_bound": bool(worst.max() <= WATER_SINCE_EMPTY.tolerance),
    }


def _relative_residuals(ensemble: Ensemble, forcing: Forcing) -> Residuals:
    """Return residual / precipitation since the empty store, (members, basins, days); 0 where all is 0."""
    outputs, _ = ensemble.simulate(forcing, None, ("discharge", "loss", "storage"))
    stored = outputs["storage"].sum(axis=-1, dtype=np.float64)
    rain = forcing.mass.cumsum(axis=-1, dtype=np.float64)
    gone = (outputs["discharge"].astype(np.float64) + outputs["loss"]).cumsum(axis=-1)
    residual = rain - gone - stored
    relative: Residuals = np.divide(residual, rain, out=np.zeros_like(residual), where=residual != 0)
    return relative
