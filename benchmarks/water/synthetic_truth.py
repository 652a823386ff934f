"""Snow, loss and origin as an MC-LSTM reads them, beside the true ones of synthetic basins.

40 basins from arid to alpine, in which snow (Snow-17), soil and reservoirs are computed and every drop is known. An
ensemble learns from their discharge alone, six years of it. In the four years after them its snow cells, chosen in the
years that it learnt from, its loss, and where the water of 60-day forecasts was at T0 (with the weather that came) are
held against the truth; the truth's stores are well mixed. `snow` and `origin_of_snow` are of basins in which there is
some: 10 mm of snow on a day of the years, and of the day of T0. Some minutes on one core.
"""

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hydrology.base.absent import Absent
from hydrology.base.calendar import Period, day
from hydrology.scores.scores import nse, pearson_r
from ingestion.sources.camels import CamelsSource
from jobspec.jobs.forecasting import ForecastParams
from jobspec.training import TrainingConfig
from models.forcing import days_of
from operations.basin_data.dataset import load_forcing, stacked
from operations.basin_data.ingest import ingest
from operations.forecasting.forecast import forecast
from operations.verification.evaluate import evaluate
from operations.versions.load_networks import load_version
from records.basins.basins import list_basins
from records.database.engine import Database
from records.runs import run_types, runs
from records.runs.runs import RunRequest
from records.simulations import snow_cells
from runtime.clock import Clock
from testing.synthetic import archive as synthetic
from testing.synthetic.basins import Landscape, SyntheticWater, Weather, landscape, water, weather
from testing.synthetic.origin import OTHER, SNOW, discharge_by_origin
from testing.training import train
from testing.work import work_of

SEED, STEPS, MEMBERS = 1, 1000, 3
RECORD = Period(synthetic.FIRST_DAY, synthetic.LAST_DAY)
LEARNT, JUDGED = "1998-10-01..2004-09-30", Period.parse("2004-10-01..2008-09-30")
T0 = tuple(day(f"{year}-{date}") for year in range(2005, 2008) for date in ("01-15", "03-15", "05-01", "08-01"))
HORIZON = 60
MIN_SNOW = 10.0  # mm
STORED = "stored"

Array = npt.NDArray[np.float64]


def measure(basins: int = 40) -> dict[str, Any]:
    """Return medians and quartiles of each figure over the basins (and days T0)."""
    land = landscape(basins)
    sky = weather(land, RECORD, seed=SEED)
    truth = water(land, sky, RECORD.days)
    with tempfile.TemporaryDirectory() as folder:
        database, clock = _country(Path(folder), basins), Clock()
        config = TrainingConfig.model_validate(
            {
                "inputs": {"product": synthetic.PRODUCT},
                "train_period": LEARNT,
                "validation_period": None,
                "members": MEMBERS,
                "schedule": {"kind": "cosine", "steps": STEPS},
            }
        )
        with database.reading() as session:
            names = [basin.id for basin in list_basins(session)]
        version = train(work_of(database, clock), config, names).version_id
        evaluate(work_of(database, clock), version, JUDGED, names)
        result = {
            "shape": f"{basins} basins, {MEMBERS} members, {STEPS} steps, {len(T0)} T0 x {HORIZON} days",
            **_simulated(database, version, names, truth),
            "snow": _snow(database, version, names, truth),
            **_origins(database, clock, version, names, (land, sky, truth)),
        }
        database.close()
    return result


def _country(folder: Path, basins: int) -> Database:
    synthetic.write(folder / "country", seed=SEED, basins=basins)
    database = Database(f"sqlite:///{folder / 'freshet.sqlite'}")
    database.migrate()
    ingest(work_of(database, Clock()), CamelsSource([folder / "country"]))
    return database


def _simulated(database: Database, version: str, names: list[str], truth: SyntheticWater) -> dict[str, Any]:
    """Return how discharge and loss follow the true ones."""
    with database.reading() as session:
        loaded = load_version(session, version)
        forcings = [load_forcing(session, name, loaded.config) for name in names]
    whole = stacked([forcing.forcing for forcing in forcings if not isinstance(forcing, Absent)])
    outputs, _ = loaded.ensemble.simulate(whole, None, ("discharge", "loss"))
    on = days_of(RECORD, JUDGED)
    flow, loss = (outputs[name].mean(axis=0, dtype=np.float64)[:, on] for name in ("discharge", "loss"))
    return {
        "nse_of_discharge": _quartiles(
            [nse(mine, true).value for mine, true in zip(flow, truth.discharge[on].T, strict=True)]
        ),
        "r_of_loss": _quartiles(
            [pearson_r(mine, true).value for mine, true in zip(loss, truth.loss[on].T, strict=True)]
        ),
        "bias_of_loss_percent": _quartiles(100 * (loss.sum(axis=1) / truth.loss[on].sum(axis=0) - 1)),
    }


def _snow(database: Database, version: str, names: list[str], truth: SyntheticWater) -> dict[str, Any]:
    with database.reading() as session:
        chosen = {cells.basin_id: cells for cells in snow_cells.own_cells(session, version)}
    snowy = truth.swe[days_of(RECORD, JUDGED)].max(axis=0) >= MIN_SNOW
    of_snowy = [chosen[name] for name, there in zip(names, snowy, strict=True) if there and name in chosen]
    return {
        "basins": len(of_snowy),
        "r": _quartiles([cells.test_r for cells in of_snowy]),
        "bias_percent": _quartiles([cells.bias_pct for cells in of_snowy]),
    }


def _origins(
    database: Database, clock: Clock, version: str, names: list[str], country: tuple[Landscape, Weather, SyntheticWater]
) -> dict[str, Any]:
    """Return how far the shares of the flow by origin are from the true ones, in each basin from each T0."""
    errors: dict[str, list[float]] = {STORED: [], "snow": []}
    by_month: dict[str, list[float]] = {}
    truth = country[2]
    for t0 in T0:
        params = ForecastParams(basins=names, t0=t0, horizon=HORIZON, version=version)
        (run,) = forecast(work_of(database, clock), RunRequest(params, purpose="reforecast"))
        place = int((t0 - RECORD.first).astype(int))
        true = discharge_by_origin(*country, place, HORIZON).sum(axis=0)
        for at, name in enumerate(names):
            with database.reading() as session:
                origin = runs.series_of(session, run.id, name, (run_types.ORIGIN,))[run_types.ORIGIN]
            read = dict(zip(origin.axes["origin"], origin.values[:, 0].sum(axis=-1, dtype=np.float64), strict=True))
            whole, true_whole = read[STORED] + read["yet_to_fall"], true[at].sum()
            errors[STORED].append(read[STORED] / whole - (true[at, SNOW] + true[at, OTHER]) / true_whole)
            by_month.setdefault(str(t0)[5:], []).append(errors[STORED][-1])
            if "snow" in read and truth.swe[place, at] >= MIN_SNOW:
                errors["snow"].append(read["snow"] / whole - true[at, SNOW] / true_whole)
    return {
        **{f"origin_of_{name}": _distance(values) for name, values in errors.items()},
        "origin_of_stored_by_t0": {month: _distance(values) for month, values in by_month.items()},
    }


def _distance(errors: list[float]) -> dict[str, Any]:
    return {
        "forecasts": len(errors),
        "distance_of_the_share": _quartiles(np.abs(errors)),
        "mean_error_of_the_share": float(np.mean(errors)),
    }


def _quartiles(values: Any) -> list[float]:
    known = np.array([value for value in values if value is not None], dtype=float)
    return [round(float(value), 4) for value in np.quantile(known, (0.25, 0.5, 0.75))]
