"""Mixes weather models whose errors are known, from an empty history on: CRPS beside each alone and equal shares.

Weather models are simulated in real basins of CAMELS-US, with the errors of `forecast_weather` beside this file, each
with draws of its own: a good one, two that are alike, and a poor one. For each pair a service with these two alone
issues its forecasts every day. The good one is missing on ten days. The years are test years of the ensemble, and
others than those on which the constants of the rule were chosen (90 days from 1996-10-15).

CRPS is relative to each basin's mean flow, and the mean of basins, issue days and the leads of ten days; days 1-30 and
all later ones are each judged as a whole. `excess_percent` is that of the mixture over the better model alone,
`gain_percent` over equal shares; where the good one is missing, the other one is alone.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.forecasts.forecast_weather import (
    ENSEMBLE_TRACES,
    HORIZON,
    SIZES,
    Archive,
    issue_time,
    prepared,
    store_weather,
)
from benchmarks.regional import data
from extensions.mixture.rule import mixed
from hydrology.base.arrays import Array, Mask
from hydrology.base.calendar import Period, days_between
from hydrology.scores.probabilistic import crps
from hydrology.uncertainty.error_model import LEVELS
from operations.daily.daily_forecasts import DailyRequest, issue_newest
from records.database.engine import Database
from records.runs import run_arrays, runs
from runtime.clock import Clock
from testing.work import work_of

FIRST = np.datetime64("1994-02-01", "D")
MODELS = {"good": "small", "one": "medium", "another": "medium", "poor": "large"}
"""The simulated weather models, and the sizes of their errors."""
PAIRS = (("good", "poor"), ("good", "one"), ("one", "another"))
MISSING, AWAY = "good", range(50, 60)
"""The weather model that is missing on some issue days."""
ENDS = (0, 30)
SERVICE = "service"


def measure(basins: int = 12, days: int = 90) -> dict[str, Any]:
    """Return the CRPS of the mixtures beside those of each model and of equal shares."""
    names = data.basins()[:: len(data.basins()) // basins][:basins]
    before = time.process_time()
    spans = {f"{first + 1}-{last}": slice(first, last) for first, last in pairwise((*ENDS, days))}
    pairs = {" + ".join(pair): _reported(simulate(names, pair, days), pair, spans) for pair in PAIRS}
    return {
        "shape": f"{basins} basins, {days} issue days from {FIRST}, {HORIZON} days ahead, {ENSEMBLE_TRACES} traces",
        "errors": {name: asdict(SIZES[size]) for name, size in MODELS.items()},
        "pairs": pairs,
        "cpu_seconds": round(time.process_time() - before),
    }


@dataclass(frozen=True, slots=True)
class Issued:
    """What was issued, by weather model, and of the service.

    Quantiles are (basins, days, leads, `LEVELS`) in mm/day, NaN where missing; the observed flow is (basins, days,
    leads), the mean flow (basins,).
    """

    quantiles: Mapping[str, Array]
    observed: Array
    mean: Array

    def scores(self, quantiles: Array) -> Array:
        """Return the CRPS of each forecast, (basins, days, leads), over the mean flow."""
        flat = crps(quantiles.reshape(-1, len(LEVELS)), LEVELS, self.observed.ravel())
        return np.asarray(flat.reshape(self.observed.shape) / self.mean[:, None, None])


def simulate(names: Sequence[str], models: Sequence[str], days: int) -> Issued:
    """Issue the forecasts of each day with the weather of some models."""
    quantiles = {name: np.full((len(names), days, HORIZON, len(LEVELS)), np.nan) for name in (*models, SERVICE)}
    with TemporaryDirectory() as folder:
        start = prepared(Path(folder), names, [FIRST])
        database = Database(f"sqlite:///{start.file}")
        for number, day in enumerate(Period(FIRST, FIRST + days - 1).days):
            at = Clock(issue_time(day))
            for name in models:
                if name != MISSING or number not in AWAY:
                    store_weather(database, at, start.archives, SIZES[MODELS[name]], ENSEMBLE_TRACES, name)
            done = issue_newest(work_of(database, at), names, DailyRequest(HORIZON, "operational", 1))
            _read(
                database,
                [run.id for run in done.issued],
                names,
                {name: of[:, number] for name, of in quantiles.items()},
            )
        database.close()
    observed = np.stack([_observed(archive, days) for archive in start.archives.values()])
    mean = np.array([np.nanmean(archive.flow) for archive in start.archives.values()])
    return Issued(quantiles, observed, mean)


def _read(database: Database, issued: Sequence[str], names: Sequence[str], into: Mapping[str, Array]) -> None:
    with database.reading() as session:
        for (run, name), arrays in runs.series_of_many(
            session, [(run, name) for run in issued for name in names], run_arrays.CALIBRATIONS
        ).items():
            if arrays:
                row = names.index(name)
                into[SERVICE][row] = arrays[run_arrays.CALIBRATED].values.T
                for model, own in run_arrays.by_weather(arrays, runs.get(session, run).weather_name).items():
                    into[model.rpartition("/")[2]][row] = own.T


def _observed(archive: Archive, days: int) -> Array:
    """Return the observed flow of each lead of each issue day; T0 lies two days before the day of issue."""
    first = days_between(archive.period.first, FIRST) - 1
    return np.stack([archive.flow[first + number : first + number + HORIZON] for number in range(days)])


def _reported(issued: Issued, models: Sequence[str], spans: Mapping[str, slice]) -> dict[str, Any]:
    own = {name: issued.scores(issued.quantiles[name]) for name in models}
    of_mixture, of_equal = issued.scores(issued.quantiles[SERVICE]), issued.scores(_equal(issued, models))
    present = (
        np.isfinite(issued.quantiles[MISSING][0, :, 0, 0])
        if MISSING in models
        else np.ones(own[models[0]].shape[1], bool)
    )
    result: dict[str, Any] = {}
    for name, days in spans.items():
        chosen = np.zeros(len(present), bool)
        chosen[days] = True
        result[name] = _of_days(own, of_mixture, of_equal, chosen & present)
    if not present.all():
        others = {name: of for name, of in own.items() if name != MISSING}
        result["missing"] = _of_days(others, of_mixture, of_equal, ~present)
    return result


def _of_days(own: Mapping[str, Array], mixture: Array, equal: Array, days: Mask) -> dict[str, Any]:
    alone = {name: float(np.nanmean(of[:, days])) for name, of in own.items()}
    of_mixture, of_equal = (float(np.nanmean(of[:, days])) for of in (mixture, equal))
    return {
        "alone": {name: round(value, 5) for name, value in alone.items()},
        "equal": round(of_equal, 5),
        "mixture": round(of_mixture, 5),
        "excess_percent": round(100 * (of_mixture / min(alone.values()) - 1), 2),
        "gain_percent": round(100 * (1 - of_mixture / of_equal), 2),
    }


def _equal(issued: Issued, models: Sequence[str]) -> Array:
    own = np.stack([issued.quantiles[name] for name in models])
    result = np.full(own.shape[1:], np.nan)
    for basin, number in np.ndindex(own.shape[1:3]):
        there = np.isfinite(own[:, basin, number, 0, 0])
        result[basin, number] = mixed(own[there, basin, number], np.full((there.sum(), HORIZON), 1 / there.sum()))
    return result
