"""Scores over the test period, of the weights as they are shipped: `results/NAME.json`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional.data import TEST, basins, opened
from benchmarks.regional.members import FOLDS, RESULTS, fold, series
from benchmarks.regional.snow import snow_skill
from hydrology.calendar import Period
from hydrology.scores import all_scores
from models import checkpoint
from models.arrays import days_of
from models.ensemble import Ensemble
from models.inference import GROUP
from models.pretrained import form
from models.scaling import Scaler
from operations.dataset import load_discharge, load_forcing, stacked

METRICS = ("nse", "kge", "beta_nse", "flv", "fhv")

Array = npt.NDArray[np.float32]
Quartiles = dict[str, list[float]]


def score(name: str) -> None:
    """Score a series: the mean of its members, and each member alone.

    `folds`: each on the basins that it never saw. `snow`: of the shipped ensemble.
    """
    if name == "folds":
        found = {key: value for number in range(1, FOLDS + 1) for key, value in _fold(number).items()}
        result: dict[str, Any] = {"unseen_basins": len(found), "singles": [quartiles(found.values())]}
    elif name == "snow":
        result = snow_skill()
    else:
        folder = series(name).folder
        simulated, observed = simulate(shipped(folder), basins(), Period.parse(TEST))
        members = [scores(one, observed, Period.parse(TEST)) for one in simulated]
        result = {
            "ensemble": quartiles(scores(simulated.mean(axis=0), observed, Period.parse(TEST))),
            "singles": [quartiles(one) for one in members],
            "core_minutes": _core_minutes(folder),
        }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def shipped(folder: Path) -> Ensemble:
    """Return the ensemble that a folder holds."""
    found = form.read(folder)
    weights = {label: checkpoint.parse(blob)[0] for label, blob in found.weights.items()}
    return Ensemble.load(found.description.config, Scaler.from_json(found.description.scaler), weights)


def simulate(ensemble: Ensemble, names: Sequence[str], period: Period) -> tuple[Array, Array]:
    """Return simulated discharge (members, basins, days) and observed (basins, days) of a period, in mm/day.

    Every basin runs from the first day of its record; one without observations in the period has NaN.
    """
    database = opened()
    forcings, observed = [], []
    with database.reading() as session:
        for name in names:
            forcing = load_forcing(session, name, ensemble.config)
            flow = load_discharge(session, name, ensemble.config.inputs.product, period)
            if isinstance(forcing, str):
                raise SystemExit(forcing)
            forcings.append(forcing.forcing)
            observed.append(np.full(len(period), np.float32(np.nan)) if isinstance(flow, str) else flow)
    database.close()
    record = forcings[0].period
    if any(one.period != record for one in forcings):
        raise SystemExit("The basins' forcings do not cover the same days.")
    blocks = [
        ensemble.simulate(stacked(forcings[first : first + GROUP]), None, ("discharge",))[0]["discharge"]
        for first in range(0, len(forcings), GROUP)
    ]
    simulated: Array = np.concatenate([block[..., days_of(record, period)] for block in blocks], axis=1)
    return simulated, np.stack(observed)


def _fold(number: int) -> dict[str, dict[str, float | None]]:
    left_out = fold(number)
    period = Period.parse(TEST)
    simulated, observed = simulate(shipped(series(f"fold-{number}").folder), left_out, period)
    return dict(zip(left_out, scores(simulated[0], observed, period), strict=True))


def scores(simulated: Array, observed: Array, period: Period) -> list[dict[str, float | None]]:
    """Return the scores of every basin, from discharge (basins, days) in mm/day."""
    found = [all_scores(one, other, period.days) for one, other in zip(simulated, observed, strict=True)]
    return [{metric: of[metric].value for metric in METRICS} for of in found]


def quartiles(found: Iterable[Mapping[str, float | None]]) -> Quartiles:
    """Return quartile, median and upper quartile of every metric over the basins that have it."""
    rows = list(found)
    values = {metric: [row[metric] for row in rows if row[metric] is not None] for metric in METRICS}
    return {metric: np.percentile(np.array(known, float), [25, 50, 75]).tolist() for metric, known in values.items()}


def _core_minutes(folder: Path) -> float:
    return float(sum(member.log["seconds"] for member in form.read(folder).description.members) / 60)
