"""Forecasts whose weather after T0 has traces: 447 basins x 10 members, with 31 traces x 10 days of a weather forecast,
and with the weather of every other year x 30 days (ESP).

`cpu_seconds` is of a whole forecast, from reading 29 years of forcing a basin to the committed run with its quantiles,
arrays and ledgers in SQLite, with the states of T0 stored. `products_cpu_seconds` is of the bare products: each linear
layer of the networks once a day for every sample, in float32, by torch, as many samples at a time as the service runs.
`stored_bytes_per_basin` is by how much a run makes the database grow; `weather_bytes_per_basin`, the weather forecast.

Synthetic basins, an untrained ensemble of the default network, one thread; CPU seconds of this process, the median of
ROUNDS. `--basins` makes it smaller.
"""

import sqlite3
import statistics
import tempfile
from contextlib import closing
from datetime import UTC, datetime, time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from benchmarks.speed.country import PERIOD, PRODUCT, UNITS, SyntheticCountry
from benchmarks.speed.warm_forecast import CLOCK, MEMBERS, cpu_seconds, prepare
from hydrology.base.calendar import Period, as_date
from hydrology.base.products import WEATHER
from hydrology.weather.forcing import WeatherForecast, WeatherIssue
from hydrology.weather.forecast_errors import SOURCE as PERTURBED
from jobspec.jobs.forecasting import ForecastParams
from models.ensemble import GROUP, Ensemble
from operations.forecasting.forecast import forecast
from operations.versions.load_networks import load_version
from records.database.engine import Database
from records.runs.runs import RunRequest
from records.series import series
from records.weather import weather_issues
from testing.work import work_of

BASINS, ROUNDS = 447, 3
TRACES, LEADS = 31, 10
ESP_HORIZON = 30
T0 = PERIOD.last - ESP_HORIZON


def measure(basins: int = BASINS) -> dict[str, Any]:
    """Return CPU seconds, their share of the bare products, and the bytes stored."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "freshet.sqlite"
        database = Database(f"sqlite:///{file}")
        database.migrate()
        country = SyntheticCountry(basins)
        names = country.basins()
        version = prepare(database, country, PRODUCT, T0)
        before = size(file)
        storing = cpu_seconds(partial(store_weather, database, names))
        weather_bytes = size(file) - before
        with database.reading() as session:
            ensemble = load_version(session, version).ensemble
        asked: dict[str, Any] = {"basins": names, "t0": T0, "version": version}
        supplied = ForecastParams(**asked, weather="supplied", horizon=LEADS)
        climatology = ForecastParams(**asked, weather="climatology", horizon=ESP_HORIZON)
        years = PERIOD.days[-1].astype("datetime64[Y]") - PERIOD.days[0].astype("datetime64[Y]")
        result = {
            "shape": f"{basins} basins x {MEMBERS} members, 1 thread",
            "weather_keep_cpu_seconds": storing,
            "weather_bytes_per_basin": weather_bytes / basins,
            "supplied": _measured(database, file, ensemble, supplied, TRACES),
            "climatology": _measured(database, file, ensemble, climatology, int(years.astype(int))),
        }
        database.close()
    return result


def store_weather(database: Database, names: list[str]) -> None:
    """Store a weather forecast: what was observed, its rain multiplied by a factor of each trace."""
    days = Period(T0 + 1, T0 + LEADS)
    variables = [name for name in UNITS if name in WEATHER]
    at = datetime.combine(as_date(days.first), time(), UTC)
    issue = WeatherIssue(source=PERTURBED, model="rain", reference_time=at, available_time=at)
    factors = np.random.default_rng(0).gamma(4, 0.25, (len(names), TRACES, 1)).astype(np.float32)
    with database.reading() as session:
        observed = series.read_many(session, names, PRODUCT, variables, days)
    forecasts = []
    for basin, values, factor in zip(names, observed, factors, strict=True):
        traces = {name: np.repeat(values[None, :, at], TRACES, axis=0) for at, name in enumerate(variables)}
        traces["precipitation"] = traces["precipitation"] * factor
        labels = tuple(map(str, range(TRACES)))
        units = {name: WEATHER[name].unit for name in variables}
        forecasts.append(
            WeatherForecast(issue=issue, basin=basin, traces=labels, first=days.first, values=traces, units=units)
        )
    with database.transaction() as session:
        weather_issues.store(session, forecasts, CLOCK.wall(), operational=True)


def _measured(
    database: Database, file: Path, ensemble: Ensemble, params: ForecastParams, traces: int
) -> dict[str, Any]:
    before = size(file)
    rounds = [cpu_seconds(partial(issue, database, params)) for _ in range(ROUNDS)]
    stored = (size(file) - before) / ROUNDS / len(params.basins)
    bare = cpu_seconds(partial(products, ensemble, len(params.basins) * traces, params.horizon))
    return {
        "traces": traces,
        "days": params.horizon,
        "cpu_seconds": statistics.median(rounds),
        "products_cpu_seconds": bare,
        "over_products": statistics.median(rounds) / bare,
        "stored_bytes_per_basin": stored,
    }


def issue(database: Database, params: ForecastParams) -> None:
    """Issue a forecast of every basin."""
    (run,) = forecast(work_of(database, CLOCK), RunRequest(params))
    if run.status != "issued":
        raise SystemExit(f"Only {run.status}: {run.reason}")


@torch.inference_mode()
def products(ensemble: Ensemble, samples: int, days: int) -> None:
    """Multiply by the weights of every linear layer, day by day."""
    for network in ensemble.networks:
        layers = [layer for layer in network.modules() if isinstance(layer, nn.Linear)]
        inputs = [torch.ones(GROUP, layer.in_features) for layer in layers]
        for _ in range(-(-samples // GROUP) * days):
            for layer, values in zip(layers, inputs, strict=True):
                functional.linear(values, layer.weight, layer.bias)


def size(file: Path) -> int:
    """Return how many bytes a database holds, what is only in its log too."""
    with closing(sqlite3.connect(file)) as connection:
        pages, free, page_bytes = (
            connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * page_bytes)
