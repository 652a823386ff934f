"""What calibrated quantiles cost: whole forecasts of 447 basins x 10 members with an error model, over those without.

With the observed weather of 10 days, and with the weather of every other year x 30 days (ESP). `with_over_without` is
of the CPU seconds of whole forecasts, from reading the forcing to the committed run, with the states of T0 stored; each
pair is taken in turn, and the ratio is the median of the pairs. Synthetic basins, an untrained ensemble of the default
network, one thread. `--basins` makes it smaller.
"""

import statistics
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import delete

from benchmarks.speed.country import PRODUCT, SyntheticCountry
from benchmarks.speed.warm_forecast import CLOCK, MEMBERS, cpu_seconds, prepare
from benchmarks.speed.weather_traces import BASINS, ESP_HORIZON, LEADS, T0, issue
from hydrology.uncertainty.error_model import FLOW_CLASSES, LEVELS, NO_FLOW_KNOWN, BasinErrors, Shape
from jobspec.jobs.forecasting import ForecastParams
from records.database.engine import Database
from records.versions import error_models
from records.versions.error_models import BASIN_ERRORS, ERROR_MODELS

ROUNDS = 5
SIZE = (NO_FLOW_KNOWN + 1, len(FLOW_CLASSES) - 1)


def measure(basins: int = BASINS) -> dict[str, Any]:
    """Return CPU seconds with and without an error model, and their ratio."""
    with tempfile.TemporaryDirectory() as folder:
        database = Database(f"sqlite:///{Path(folder) / 'freshet.sqlite'}")
        database.migrate()
        country = SyntheticCountry(basins)
        version = prepare(database, country, PRODUCT, T0)
        asked: dict[str, Any] = {"basins": country.basins(), "t0": T0, "version": version}
        kinds = {
            "observed": ForecastParams(**asked, weather="observed", horizon=LEADS),
            "climatology": ForecastParams(**asked, weather="climatology", horizon=ESP_HORIZON),
        }
        model = error_model(version, country.basins())
        result = {kind: _measured(database, params, model) for kind, params in kinds.items()}
        database.close()
    return {"shape": f"{basins} basins x {MEMBERS} members, 1 thread", **result}


def error_model(version: str, basins: list[str]) -> error_models.NewErrorModel:
    """Return an error model of some numbers: what it costs does not depend on them."""
    table = np.full(SIZE, 0.1)
    shape = Shape(table, table, table, np.broadcast_to(np.linspace(-3, 3, len(LEVELS)), (*SIZE, len(LEVELS))))
    errors = BasinErrors(2.0, np.linspace(0.1, 20, SIZE[1]), table, table, table, 3000)
    return error_models.NewErrorModel(
        version_id=version,
        first=T0,
        last=T0,
        days=1,
        shape=shape,
        regional=shape,
        basins=dict.fromkeys(basins, errors),
    )


def _measured(database: Database, params: ForecastParams, model: error_models.NewErrorModel) -> dict[str, Any]:
    pairs = []
    for _ in range(ROUNDS):
        with database.transaction() as session:
            for row in (BASIN_ERRORS, ERROR_MODELS):
                session.execute(delete(row))
        without = cpu_seconds(partial(issue, database, params))
        with database.transaction() as session:
            error_models.replace(session, model, CLOCK.wall())
        pairs.append((cpu_seconds(partial(issue, database, params)), without))
    ratios = [calibrated / raw for calibrated, raw in pairs]
    calibrated, raw = (statistics.median(side) for side in zip(*pairs, strict=True))
    return {
        "days": params.horizon,
        "cpu_seconds": calibrated,
        "cpu_seconds_without": raw,
        "with_over_without": statistics.median(ratios),
        "range": [min(ratios), max(ratios)],
    }
