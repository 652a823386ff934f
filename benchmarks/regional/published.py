"""Networks beside the published LSTM and EA-LSTM, basin by basin; the shipped ones in `results/published.json`.

The published scores are those of Kratzert et al. 2019 (doi:10.5194/hess-23-5089-2019): on the same forcing, basins and
test years, trained for NSE, the mean of eight seeds, and each seed; beside networks on several products those of
Kratzert et al. 2021 (doi:10.5194/hess-25-2685-2021): one LSTM on Maurer, Daymet and NLDAS, the mean of ten seeds.
Those of the shipped ensemble are the scores that it is shipped with, so that nothing is simulated and no flow of the
test years is read.
"""

import csv
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.regional.data import camels
from benchmarks.regional.members import ENSEMBLE, RESULTS, series
from benchmarks.regional.recipes import COMPARED
from hydrology.scores.comparisons import MEANINGS, difference, quartiles
from models.pretrained import attachments, form

FOLDER = "benchmarks/ealstm_maurer_531"
PER_BASIN, THREE_PRODUCTS = "benchmarks/benchmark_models_per_basin.csv", "LSTM_multiforcing_ens10"
MODELS = ("lstm", "ealstm")
COLUMNS = {"nse": "NSE", "beta_nse": "beta_nse", "fhv": "FHV", "flv": "FLV"}

ByMetric = dict[str, dict[str, float | None]]
"""Scores by metric and basin."""


def compare() -> None:
    """Write and print the comparisons of the shipped ensemble; of other networks that are shipped with it, too."""
    reference = shipped_scores(ENSEMBLE)
    results: dict[str, Any] = {ENSEMBLE.name: beside(reference)}
    for folder in [series(name).folder for name in COMPARED]:
        ours = shipped_scores(folder)
        with_reference = {metric: paired(metric, ours[metric], reference[metric]) for metric in COLUMNS}
        results[folder.name] = {**beside(ours), ENSEMBLE.name: with_reference}
    (RESULTS / "published.json").write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


def shipped_scores(folder: Path) -> dict[str, dict[str, float]]:
    """Return the scores that an ensemble is shipped with, by metric and basin."""
    judged = attachments.read_skill(form.read(folder))
    if judged is None:
        raise SystemExit(f"{folder.name} is shipped without scores by basin.")
    return {
        metric: {
            basin: value
            for basin, value in zip(judged.basins, judged.metrics[metric].value, strict=True)
            if value is not None
        }
        for metric in COLUMNS
    }


def beside(ours: Mapping[str, Mapping[str, float | None]]) -> dict[str, Any]:
    """Return each published model's scores beside those of another network in the same basins, with the paired test."""
    return {model: _beside(ours, model) for model in MODELS}


def _beside(ours: Mapping[str, Mapping[str, float | None]], model: str) -> dict[str, Any]:
    theirs = of_ensemble(model)
    seeds = [read(path) for path in sorted((camels() / FOLDER).glob(f"test_metrics_531camels_{model}_seed*.csv"))]
    singles = [float(np.median([rows["nse"][basin] for basin in ours["nse"]])) for rows in seeds]
    return {"single_nse": singles} | {metric: paired(metric, ours[metric], theirs[metric]) for metric in COLUMNS}


def of_ensemble(model: str) -> dict[str, dict[str, float]]:
    """Return the scores of a published ensemble, by metric and basin."""
    return read(camels() / FOLDER / f"test_metrics_531camels_{model}_ensemble.csv")


def of_three_products() -> dict[str, dict[str, float]]:
    """Return the scores of the published LSTM ensemble on three products, by metric and basin."""
    with (camels() / PER_BASIN).open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["model"] == THREE_PRODUCTS]
    return {
        metric: {f"USGS-{row['gauge_id']}": float(row[metric.upper()]) for row in rows} for metric in ("nse", "kge")
    }


def read(path: Path) -> dict[str, dict[str, float]]:
    """Return the published scores of a file, by metric and basin."""
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    return {metric: {f"USGS-{row['basin']}": float(row[column]) for row in rows} for metric, column in COLUMNS.items()}


def paired(metric: str, ours: Mapping[str, float | None], theirs: Mapping[str, float]) -> dict[str, Any]:
    """Return quartiles of both, and the paired test of how near to the perfect score they are, where both have one."""
    pairs = np.array([(value, theirs[basin]) for basin, value in ours.items() if value is not None and basin in theirs])
    both = pairs[np.isfinite(pairs).all(axis=1)].T
    nearness = -np.abs(both - MEANINGS[metric].perfect)
    gain = difference(*nearness, perfect=0)
    return {"ours": asdict(quartiles(both[0])), "theirs": asdict(quartiles(both[1])), "gain": asdict(gain)}
