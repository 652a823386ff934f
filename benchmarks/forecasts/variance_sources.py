"""What makes a forecast's spread, by lead: the weights, the weather or the state, of the shipped ensemble.

Forecasts of real basins with the weather of every other year, from one day of each season of a test year; of each day
ahead the shares of the variance in the median basin. FRESHET_CAMELS names the data, FRESHET_DATA a data folder, where
basins that are missing are ingested first; one thread.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import basins as all_basins
from benchmarks.regional.data import opened
from hydrology.uncertainty.weighted import SPREAD_SOURCES
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from operations.training.pretrained import install, read_shipped
from records.database.engine import Database
from records.runs import run_types, runs
from records.runs.runs import RunRequest
from runtime.clock import Clock
from testing.work import work_of

ENSEMBLE = "mclstm-maurer-447"
T0 = ("1995-01-15", "1995-04-15", "1995-07-15", "1995-10-15")
HORIZON, STATES = 30, 8
REPORTED_LEADS = (1, 2, 3, 5, 10, 20, 30)


def measure(basins: int = 447) -> dict[str, Any]:
    """Return the shares of each source by lead, of each T0."""
    database, clock = opened(), Clock()
    version = install(work_of(database, clock), read_shipped(ENSEMBLE)).version_id
    names = all_basins()[:: len(all_basins()) // basins][:basins]
    by_day = {t0: _variances(database, clock, version, names, t0) for t0 in T0}
    database.close()
    return {
        "shape": f"{len(names)} basins, {HORIZON} days, {STATES} perturbed states, weather of other years",
        "shares": {t0: _shares(variances) for t0, variances in by_day.items()},
        "weather_grows_from_lead_1_to_30_in_share_of_basins": {
            t0: float(_grows(variances).mean()) for t0, variances in by_day.items()
        },
    }


def _variances(database: Database, clock: Clock, version: str, names: list[str], t0: str) -> npt.NDArray[np.float64]:
    """Return the variance by source, (basins, sources, leads)."""
    asked: dict[str, Any] = {"basins": names, "t0": t0, "horizon": HORIZON, "version": version}
    params = ForecastParams(**asked, weather="climatology", perturbed_states=STATES)
    (run,) = forecast(work_of(database, clock), RunRequest(params, purpose="reforecast"))
    with database.reading() as session:
        series = [runs.series_of(session, run.id, basin, (run_types.VARIANCE,)) for basin in names]
    return np.stack([of_basin[run_types.VARIANCE].values.astype(np.float64) for of_basin in series if of_basin])


def _shares(variances: npt.NDArray[np.float64]) -> dict[str, dict[str, float]]:
    medians = np.nanmedian(_of_whole(variances), axis=0)
    return {
        str(lead): {source: float(medians[row, lead - 1]) for row, source in enumerate(SPREAD_SOURCES)}
        for lead in REPORTED_LEADS
    }


def _grows(variances: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    weather = _of_whole(variances)[:, SPREAD_SOURCES.index("weather")]
    grows: npt.NDArray[np.bool_] = weather[:, -1] > weather[:, 0]
    return grows


def _of_whole(variances: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    whole = variances.sum(axis=1, keepdims=True)
    shares: npt.NDArray[np.float64] = np.divide(variances, whole, out=np.full_like(variances, np.nan), where=whole > 0)
    return shares
