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
        simulated, observed = simulate(folder, basins())
        members = [_scores(one, observed) for one in simulated]
        result = {
            "ensemble": quartiles(_scores(simulated.mean(axis=0), observed)),
            "singles": [quartiles(one) for one in members],
            "core_minutes": _core_minutes(folder),
        }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def simulate(folder: Path, names: Sequence[str]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Return simulated discharge (members, basins, days) and observed (basins, days) of the test period, in mm/day."""
    shipped = form.read(folder)
    said = shipped.description
    weights = {label: checkpoint.parse(blob)[0] for label, blob in shipped.weights.items()}
    ensemble = Ensemble.load(said.config, Scaler.from_json(said.scaler), weights)
    period, database = Period.parse(TEST), opened()
    forcings, observed = [], []
    with database.reading() as session:
        for name in names:
            forcing = load_forcing(session, name, said.config)
            flow = load_discharge(session, name, said.config.inputs.product, period)
            if isinstance(forcing, str) or isinstance(flow, str):
                raise SystemExit(str(forcing if isinstance(forcing, str) else flow))
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
    simulated: npt.NDArray[np.float32] = np.concatenate(
        [block[..., days_of(record, period)] for block in blocks], axis=1
    )
    return simulated, np.stack(observed)


def _fold(number: int) -> dict[str, dict[str, float | None]]:
    left_out = fold(number)
    simulated, observed = simulate(series(f"fold-{number}").folder, left_out)
    return dict(zip(left_out, _scores(simulated[0], observed), strict=True))


def _scores(simulated: npt.NDArray[np.float32], observed: npt.NDArray[np.float32]) -> list[dict[str, float | None]]:
    days = Period.parse(TEST).days
    found = [all_scores(one, other, days) for one, other in zip(simulated, observed, strict=True)]
    return [{metric: scores[metric].value for metric in METRICS} for scores in found]


def quartiles(found: Iterable[Mapping[str, float | None]]) -> Quartiles:
    """Return quartile, median and upper quartile of every metric over the basins that have it."""
    rows = list(found)
    values = {metric: [row[metric] for row in rows if row[metric] is not None] for metric in METRICS}
    return {metric: np.percentile(np.array(known, float), [25, 50, 75]).tolist() for metric, known in values.items()}


def _core_minutes(folder: Path) -> float:
    return float(sum(member.log["seconds"] for member in form.read(folder).description.members) / 60)
