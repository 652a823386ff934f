"""The parts of `freshet-us` together: weights from the validation years, then the test years with these.

`weights` writes `results/weights/us.json`, `score us` writes `results/us.json`: all products, each of them alone, and
some missing by turns, in the basins that both cover; and the Maurer parts alone in all 447. `score us-buckets` writes
the same of the buckets of both products alone, which pass every question about more and less rain; `score
us-with-fused` of all four parts and those on the mean of both products, which counts as a product by itself. This is
`freshet-us`. `score us-twins` and `score us-folds` write what the twins, which learn from eighteen years, and members
that have not seen a basin make of the test years. `ship-us` writes the shipped combinations of the parts of today and
of their twins.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

import numpy as np

from benchmarks.product_mixes import ALL, OWN, mixes_of_basins
from benchmarks.regional import published
from benchmarks.regional.data import FUSED, METRICS, PRODUCT, PRODUCTS, TEST, basins, opened
from benchmarks.regional.members import ENSEMBLE, FOLDS, RESULTS, US_PARTS, fold, series
from benchmarks.regional.published import ByMetric
from benchmarks.regional.recipes import RECIPES
from benchmarks.regional.simulations import Simulated, observe, shipped, simulate
from extensions.shipping.writing import write_combination
from extensions.weights.learning import LearntWeights, learn_weights
from hydrology.base.calendar import Period
from hydrology.scores.comparisons import quartiles
from hydrology.scores.scores import all_scores
from models.pretrained import SHELF, form
from models.pretrained.combination import Description, ShippedPart
from models.pretrained.form import Named, load
from operations.training.pretrained import install
from records.database.engine import Database
from runtime.clock import Clock
from testing.work import work_of

WEIGHTS = RESULTS / "weights" / "us.json"
COMBINATIONS: Mapping[str, tuple[str, ...]] = {
    "both": tuple(part for part in US_PARTS if RECIPES[part].product != FUSED),
    "maurer": ("us-maurer", "us-maurer-buckets"),
    "buckets": ("us-maurer-buckets", "us-daymet-buckets"),
    "with-fused": tuple(US_PARTS),
}
SHIPPED: Mapping[str, str] = {"freshet-us": "with-fused", "freshet-us-buckets": "buckets"}
"""The shipped combinations."""
DIGITS = 6  # of weights


def choose_weights(combinations: Sequence[str]) -> None:
    """Learn the weights of combinations on the validation years, all where none is named.

    They are written beside those of the others, with the scores in these years.
    """
    if unknown := {*combinations} - {*COMBINATIONS}:
        raise SystemExit(f"{sorted(unknown)}: no combination; there are {', '.join(COMBINATIONS)}.")
    chosen: dict[str, Any] = json.loads(WEIGHTS.read_text()) if WEIGHTS.exists() else {}
    for name in combinations or COMBINATIONS:
        parts = COMBINATIONS[name]
        database, versions = _installed(parts)
        names, days = _basins(parts), Period.parse(_validation(parts))
        learnt = learn_weights(work_of(database), list(versions.values()), days, names)
        scores = _scores(database, learnt, days, names)
        chosen[name] = asdict(_renamed(learnt, dict(zip(versions.values(), versions, strict=True)))) | {
            "content": _content(parts),
            "days": str(days),
            "scores": _shown(scores),
        }
        database.close()
    WEIGHTS.write_text(json.dumps(chosen, indent=1) + "\n")
    print(json.dumps(chosen, indent=1))


def score(*combinations: str) -> dict[str, Any]:
    """Return the scores of combinations in the test years, by the weights that were chosen before.

    Beside each: the shipped ensemble and the published LSTMs, on Maurer and on three products, in the same basins, with
    the paired test.
    """
    result: dict[str, Any] = {"period": TEST}
    for name in combinations:
        parts, chosen = COMBINATIONS[name], _chosen(name)
        database, versions = _installed(parts)
        scores = _scores(database, _renamed(chosen, versions), Period.parse(TEST), _basins(parts))
        database.close()
        others = {
            "shipped": published.shipped_scores(ENSEMBLE),
            "published": published.of_ensemble("lstm"),
            "three products": published.of_three_products(),
        }
        beside = {
            of: {metric: published.paired(metric, scores[OWN][metric], known) for metric, known in theirs.items()}
            for of, theirs in others.items()
        }
        result[name] = {"weights": chosen.common, "scores": _shown(scores), **beside}
    return result


def score_twins(*combinations: str) -> dict[str, Any]:
    """Return the scores of the twins in the test years, by the weights of combinations."""
    result: dict[str, Any] = {"period": TEST}
    for name in combinations:
        chosen = _chosen(name)
        names = _basins(list(chosen.common))
        runs = {part: _simulated_twins(part, tuple(names)) for part in chosen.common}
        result[name] = {
            "weights": chosen.common,
            "scores": _shown({OWN: _judged(_mean_of(chosen, runs, names), names)}),
        }
    return result


@cache
def _simulated_twins(part: str, names: tuple[str, ...]) -> Simulated:
    """Simulate basins by the twins of a part; once for all combinations."""
    return simulate(load(shipped(series(f"{part}-twins").folder)), names)


def score_folds(*combinations: str) -> dict[str, Any]:
    """Return the scores in the test years of basins that no member has seen, by the common weights."""
    result: dict[str, Any] = {"period": TEST}
    for name in combinations:
        common = common_weights(name)
        found: ByMetric = {}
        for number in range(1, FOLDS + 1):
            names, mean = left_out_over_record(common, number)
            of_fold = _judged(mean, names)
            found = {metric: found.get(metric, {}) | of_fold[metric] for metric in METRICS}
        result[name] = {"weights": common, "scores": _shown({ALL: found})}
    return result


def ship() -> None:
    """Write the shipped combinations and their twins, of parts that are on the shelf, with the weights chosen."""
    for name, combination in SHIPPED.items():
        twin = _write(f"{name}-twin", combination, "twins")
        _write(name, combination, "today", twin)


def _write(name: str, combination: str, variant: str, twin: Named | None = None) -> Named:
    """Write the combination of a variant of its parts, and return what names it."""
    common, by_basin = _chosen(combination).common, _weights_of_basins(combination)
    parts = []
    for part, weight in common.items():
        shipped_part = form.read(series(f"{part}-{variant}").folder)
        own = {basin: weights[part] for basin, weights in by_basin.items()}
        named = {"name": shipped_part.name, "content": shipped_part.content}
        parts.append(ShippedPart(**named, weight=weight, basin_weights=own))
    written = write_combination(SHELF / name, Description(parts=parts, twin=twin))
    return Named(name=name, content=written.content)


def _weights_of_basins(combination: str) -> dict[str, dict[str, float]]:
    """Return the weights of every basin.

    Where only the weather of Maurer is known, those parts share what they have of the common weights as was learnt of
    them alone, if it was.
    """
    chosen, covered = _chosen(combination), {*_basins(COMBINATIONS[combination])}
    there = tuple(part for part in COMBINATIONS[combination] if RECIPES[part].product == PRODUCT)
    share = sum(chosen.common[part] for part in there)
    learnt = next((name for name, parts in COMBINATIONS.items() if parts == there), None)
    alone = None if learnt is None else _chosen(learnt)

    def weights_of(basin: str) -> dict[str, float]:
        if basin in covered or alone is None:
            return chosen.by_basin.get(basin, chosen.common)
        own = alone.by_basin.get(basin, alone.common)
        return chosen.common | {part: round(share * weight, DIGITS) for part, weight in own.items()}

    return {basin: weights_of(basin) for basin in basins()}


def mean_over_record(name: str) -> tuple[list[str], Simulated]:
    """Return the basins of a combination, and its weighted mean over the record that all its products share.

    Discharge is (1, basins, days), in mm/day.
    """
    chosen = _chosen(name)
    names = _basins(list(chosen.common))
    runs = {part: simulate(load(shipped(series(part).folder)), names) for part in chosen.common}
    return names, _mean_of(chosen, runs, names)


def common_weights(name: str) -> dict[str, float]:
    """Return the weights that all basins share, by part, of a combination."""
    return _chosen(name).common


def weights_of_twin(name: str) -> dict[str, float]:
    """Return the same of the shipped twin of a combination, or of a part."""
    whole = name.removesuffix("-twin")
    return common_weights(SHIPPED[whole]) if whole in SHIPPED else {whole.removeprefix("freshet-"): 1.0}


def left_out_over_record(weights: dict[str, float], number: int) -> tuple[list[str], Simulated]:
    """Return the basins that a fold of some parts left out, and their weighted mean there, as `mean_over_record`."""
    names = sorted({*fold(number)} & {*_basins(list(weights))})
    runs = dict[str, Simulated]()
    for part in weights:
        known, run = _left_out_by(part, number)
        runs[part] = Simulated(run.record, run.discharge[:, [known.index(name) for name in names]])
    return names, _mean_of(LearntWeights(weights, {}, None), runs, names)


@cache
def _left_out_by(part: str, number: int) -> tuple[list[str], Simulated]:
    """Return the basins that a fold of a part left out, simulated by its members; once for all combinations."""
    names = sorted({*fold(number)} & {*RECIPES[part].basins})
    return names, simulate(load(shipped(series(f"{part}-fold-{number}").folder, unseen=names)), names)


def _mean_of(chosen: LearntWeights, runs: Mapping[str, Simulated], names: Sequence[str]) -> Simulated:
    """Return the weighted mean of what the members of each part make of some basins."""
    record = Period(max(run.record.first for run in runs.values()), min(run.record.last for run in runs.values()))
    weights = np.array([[chosen.by_basin.get(basin, chosen.common)[part] for basin in names] for part in runs])
    means = np.stack([run.over(record).mean(axis=0, dtype=np.float64) for run in runs.values()])
    return Simulated(record, (np.einsum("pb,pbd->bd", weights, means) / weights.sum(axis=0)[:, None])[None])


def _judged(mean: Simulated, names: Sequence[str]) -> ByMetric:
    """Return the scores of a mean in the test years."""
    observed = observe(names, TEST)
    flows = zip(names, mean.over(observed.period)[0], observed.discharge, strict=True)
    scores = {name: all_scores(flow, truth, observed.period.days) for name, flow, truth in flows}
    return {metric: {name: of[metric].value for name, of in scores.items()} for metric in METRICS}


def _chosen(name: str) -> LearntWeights:
    """Return the weights that were chosen for a combination, by part, which must be of its parts as they are now."""
    chosen: dict[str, Any] = json.loads(WEIGHTS.read_text())[name]
    if chosen["content"] != _content(COMBINATIONS[name]):
        raise SystemExit(f"The parts of {name} are other ones now: `python -m benchmarks.regional weights` first.")
    return LearntWeights(chosen["common"], chosen["by_basin"], chosen["nse"])


def _renamed(learnt: LearntWeights, names: Mapping[str, str]) -> LearntWeights:
    """Return weights under other names of what is combined."""
    by_basin = {basin: {names[name]: weight for name, weight in own.items()} for basin, own in learnt.by_basin.items()}
    return LearntWeights({names[name]: weight for name, weight in learnt.common.items()}, by_basin, learnt.nse)


def _installed(parts: Sequence[str]) -> tuple[Database, dict[str, str]]:
    """Return the database, and the version of each part in it."""
    for product in {RECIPES[part].product for part in parts}:
        opened(product).close()
    database = opened()
    return database, {
        part: install(work_of(database, Clock()), form.read(series(part).folder)).version_id for part in parts
    }


def _content(parts: Sequence[str]) -> dict[str, str]:
    return {part: form.read(series(part).folder).content for part in parts}


def _basins(parts: Sequence[str]) -> list[str]:
    """Return the basins that the products of all parts cover."""
    covered = [{*RECIPES[part].basins} for part in parts]
    return [name for name in basins() if all(name in of_part for of_part in covered)]


def _validation(parts: Sequence[str]) -> str:
    """Return the validation days that the products of all parts share."""
    return min((PRODUCTS[RECIPES[part].product].validation for part in parts), key=lambda days: len(Period.parse(days)))


def _scores(database: Database, learnt: LearntWeights, days: Period, names: Sequence[str]) -> dict[str, ByMetric]:
    """Return the scores of each mix of the products."""
    found: dict[str, ByMetric] = {}
    for mixed in mixes_of_basins(database, learnt, days, names):
        for mix, flow in mixed.flows.items():
            scores = all_scores(flow, mixed.observed, days.days)
            for metric in METRICS:
                found.setdefault(mix, {}).setdefault(metric, {})[mixed.basin] = scores[metric].value
    return found


def _shown(scores: Mapping[str, ByMetric]) -> dict[str, Any]:
    return {
        mix: {
            metric: asdict(quartiles([value for value in of.values() if value is not None]))
            for metric, of in by_metric.items()
        }
        for mix, by_metric in scores.items()
    }
