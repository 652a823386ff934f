"""Scores over the test period, of the weights as they are shipped: `results/NAME.json`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
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
Scores = dict[str, float | None]
Quartiles = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Simulated:
    """Discharge in mm/day.

    Attributes:
        simulated: (members, basins, days).
        observed: (basins, days), NaN where missing.
        unobserved: why a basin has no observations at all, by its name.
    """

    simulated: Array
    observed: Array
    unobserved: dict[str, str]


def score(name: str) -> None:
    """Score a series: the mean of its members, and each member alone.

    `folds`: each on the basins that it never saw. `snow`: of the shipped ensemble.
    """
    if name == "folds":
        result = _folds()
    elif name == "snow":
        result = snow_skill()
    else:
        result = _series(name)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def _series(name: str) -> dict[str, Any]:
    found = shipped(series(name).folder)
    period = Period.parse(TEST)
    run = simulate(loaded(found), basins(), period)
    ensemble = scores(run.simulated.mean(axis=0), run.observed, period)
    return {
        "content": found.content,
        "members": sorted(found.weights),
        "basins": _counts(ensemble),
        "ensemble": quartiles(ensemble),
        "singles": [quartiles(scores(one, run.observed, period)) for one in run.simulated],
        "core_minutes": sum(member.log["seconds"] for member in found.description.members) / 60,
        "unobserved": run.unobserved,
    }


def _folds() -> dict[str, Any]:
    period, found, unobserved = Period.parse(TEST), list[Scores](), dict[str, str]()
    for number in range(1, FOLDS + 1):
        left_out, of = fold(number), shipped(series(f"fold-{number}").folder)
        if seen := set(left_out) & set(of.description.basins):
            raise SystemExit(f"fold-{number} has learnt from {sorted(seen)}: train it again.")
        run = simulate(loaded(of), left_out, period)
        found += scores(run.simulated[0], run.observed, period)
        unobserved |= run.unobserved
    return {"basins": _counts(found), "singles": [quartiles(found)], "unobserved": unobserved}


def shipped(folder: Path) -> form.Ensemble:
    """Return the ensemble that a folder holds."""
    if not (folder / form.DESCRIPTION).exists():
        raise SystemExit(f"{folder} holds no trained member: `python -m benchmarks.regional train` makes them.")
    return form.read(folder)


def loaded(found: form.Ensemble) -> Ensemble:
    """Return the networks of a shipped ensemble."""
    weights = {label: checkpoint.parse(blob)[0] for label, blob in found.weights.items()}
    return Ensemble.load(found.description.config, Scaler.from_json(found.description.scaler), weights)


def simulate(ensemble: Ensemble, names: Sequence[str], period: Period) -> Simulated:
    """Return simulated and observed discharge of a period; every basin runs from the first day of its record."""
    database = opened()
    forcings, observed, unobserved = [], [], {}
    with database.reading() as session:
        for name in names:
            forcing = load_forcing(session, name, ensemble.config)
            flow = load_discharge(session, name, ensemble.config.inputs.product, period)
            if isinstance(forcing, str):
                raise SystemExit(forcing)
            if isinstance(flow, str):
                unobserved[name] = flow
                flow = np.full(len(period), np.float32(np.nan))
            forcings.append(forcing.forcing)
            observed.append(flow)
    database.close()
    record = forcings[0].period
    if any(one.period != record for one in forcings):
        raise SystemExit("The basins' forcings do not cover the same days.")
    blocks = [
        ensemble.simulate(stacked(forcings[first : first + GROUP]), None, ("discharge",))[0]["discharge"]
        for first in range(0, len(forcings), GROUP)
    ]
    simulated: Array = np.concatenate([block[..., days_of(record, period)] for block in blocks], axis=1)
    return Simulated(simulated, np.stack(observed), unobserved)


def scores(simulated: Array, observed: Array, period: Period) -> list[Scores]:
    """Return the scores of every basin, from discharge (basins, days) in mm/day."""
    found = [all_scores(one, other, period.days) for one, other in zip(simulated, observed, strict=True)]
    return [{metric: of[metric].value for metric in METRICS} for of in found]


def quartiles(found: Iterable[Mapping[str, float | None]]) -> Quartiles:
    """Return quartile, median and upper quartile of every metric over the basins that have it."""
    rows = list(found)
    values = {metric: [row[metric] for row in rows if row[metric] is not None] for metric in METRICS}
    return {metric: np.percentile(np.array(known, float), [25, 50, 75]).tolist() for metric, known in values.items()}


def _counts(found: Sequence[Scores]) -> dict[str, int]:
    """Return how many basins have a score, by its metric."""
    return {metric: sum(row[metric] is not None for row in found) for metric in METRICS}
