"""Scores of the weights as they are shipped, over the validation and the test period: `results/NAME.json`, of a series
`results/series/NAME.json`."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.regional import duration_curves, loss, published, uncertainty, us
from benchmarks.regional.data import METRICS, TEST, VALIDATION, basins
from benchmarks.regional.members import ENSEMBLE, FOLD_MEMBERS, FOLDS, RESULTS, TODAY, US_PARTS, fold, series
from benchmarks.regional.recipes import COMPARED
from benchmarks.regional.seasonal import snow_volumes, volumes
from benchmarks.regional.simulations import Array, Observed, Simulated, observe, shipped, simulate
from benchmarks.regional.snow_cells import snow_skill
from benchmarks.regional.vectors import fitted
from extensions.shipping.attachments import write_errors
from hydrology.base.calendar import Period
from hydrology.scores.bootstrap import YearlyErrors, median_nse_interval
from hydrology.scores.scores import all_scores
from hydrology.uncertainty.error_fit import fit
from jobspec.training import used_periods
from models.error_networks import with_networks
from models.pretrained import SHELF, attachments, form
from models.pretrained.form import load

FITTED_ON = {ENSEMBLE.name: VALIDATION}
"""The years that the error model of a shipped ensemble is fitted on: those that its weights were not."""

Scores = dict[str, float | None]
Quartiles = dict[str, list[float]]


def score(name: str) -> None:
    """Score a series: the mean of its members, and each member alone, beside the published networks.

    `folds`: each on the basins that it never saw. `snow`: of the shipped ensemble; `snow-twins`: of the twins of that
    of today, whose own cells are stored beside; `snow-us`: of the parts of `freshet-us`; `snow-us-twins`: of their
    twins, likewise. `twins` are scored in the test years alone: they have fitted the others. `loss`: beside potential
    evapotranspiration. `snow-volumes`: what is in snowy basins in spring beside what ran off. `uncertainty`: the
    probabilities of the shipped ensemble, `uncertainty-unseen` those of the folds in the basins that each never saw,
    `uncertainty-us` and `uncertainty-us-unseen` those of `freshet-us`; `volumes`: those with the weather of other
    years. `us`: the parts of `freshet-us`; `us-buckets`: its buckets alone; `us-with-fused`: those on the mean of both
    products, too; `us-twins`: their twins; `us-folds`: their folds. `draws-us`: duration curves of `freshet-us` and of
    draws.
    """
    measure = OTHERS.get(name)
    result, folder = (_series(name), RESULTS / "series") if measure is None else (measure(), RESULTS)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def ship_errors(name: str) -> None:
    """Fit the error model of a shipped ensemble to the years that its weights were not fitted to, and ship it, too.

    That of basins never seen is of the folds; until they are trained, such basins have none.
    """
    ensemble, days = form.read(SHELF / name), FITTED_ON[name]
    every = uncertainty.over_record(ensemble, basins())
    observed = [basin for basin in every if np.isfinite(basin.over(days).observed).any()]
    pairs = {basin.name: basin.pairs(days) for basin in observed}
    model = with_networks(fit(pairs), pairs)
    never_seen = uncertainty.regional()
    regional, period = never_seen or model.regional, Period.parse(days)
    shipped_errors = attachments.ShippedErrors(
        period, model.days, model.shape, regional, for_unseen=never_seen is not None, basins=model.basins
    )
    write_errors(ensemble, shipped_errors)
    print(f"{name}: {len(model.basins)} basins, {model.days} observed days of {period}")


def _series(name: str) -> dict[str, Any]:
    ensemble = shipped(series(name).folder)
    names = basins()
    run = simulate(load(ensemble), names)
    used = used_periods(ensemble.description.config.model_dump(mode="json"))
    learnt = [days for purpose, days in used if purpose == "train"]
    judged = {
        label: text
        for label, text in {"validation": VALIDATION, "test": TEST}.items()
        if not any(days.overlap(Period.parse(text)) for days in learnt)
    }
    return {
        "content": ensemble.content,
        "members": sorted(ensemble.weights),
        "core_minutes": sum(member.log["seconds"] for member in ensemble.description.members) / 60,
        **{label: _skill(run, observe(names, text)) for label, text in judged.items()},
    }


def _skill(run: Simulated, observed: Observed) -> dict[str, Any]:
    members = run.over(observed.period)
    mean = members.mean(axis=0)
    ensemble = scores(mean, observed)
    result = {
        "ensemble": quartiles(ensemble),
        "median_nse_interval": intervals(mean, observed),
        "singles": [quartiles(scores(member, observed)) for member in members],
        "basins": _counts(ensemble),
        "unobserved": observed.reasons,
    }
    if str(observed.period) != TEST:
        return result
    by_basin = dict(zip(basins(), ensemble, strict=True))
    of_metrics = {metric: {basin: row[metric] for basin, row in by_basin.items()} for metric in METRICS}
    return result | {"published": published.beside(of_metrics)}


def _snow_of_parts(variant: str) -> dict[str, Any]:
    """Return how well snow is read from each part of `freshet-us`, or from a variant of them."""
    return {part: snow_skill(shipped(series(f"{part}{variant}").folder)) for part in US_PARTS}


def _folds() -> dict[str, Any]:
    """Return the scores of basins never seen, in years never seen, and what members that know them make of them.

    A basin's discharge is the mean of the members of the fold that left it out: as they are, and with a vector fitted
    to two years of the basin. Beside it that of as many members of the ensemble that learnt from all basins.
    """
    unseen, with_vectors, unobserved = list[Scores](), list[Scores](), dict[str, str]()
    singles: list[list[Scores]] = [[] for _ in range(FOLD_MEMBERS)]
    for number in range(1, FOLDS + 1):
        left_out = fold(number)
        of = shipped(series(f"fold-{number}").folder, unseen=left_out)
        observed = observe(left_out, TEST)
        members = simulate(load(of), left_out).over(observed.period)
        unseen += scores(members.mean(axis=0), observed)
        for of_single, member in zip(singles, members, strict=True):
            of_single += scores(member, observed)
        tuned = simulate(fitted(of, left_out), left_out).over(observed.period)
        with_vectors += scores(tuned.mean(axis=0), observed)
        unobserved |= observed.reasons
    observed = observe(basins(), TEST)
    knowing = simulate(load(shipped(series("mclstm").folder)), basins()).over(observed.period)[:FOLD_MEMBERS]
    return {
        "test": {
            "unseen": quartiles(unseen),
            "vector_fitted": quartiles(with_vectors),
            "unseen_singles": [quartiles(rows) for rows in singles],
            "seen": quartiles(scores(knowing.mean(axis=0), observed)),
            "basins": _counts(unseen),
            "unobserved": unobserved,
        }
    }


def scores(simulated: Array, observed: Observed) -> list[Scores]:
    """Return the scores of every basin, from discharge (basins, days) in mm/day."""
    days = observed.period.days
    by_basin = [all_scores(flow, truth, days) for flow, truth in zip(simulated, observed.discharge, strict=True)]
    return [{metric: of[metric].value for metric in METRICS} for of in by_basin]


def intervals(simulated: Array, observed: Observed) -> dict[str, Any]:
    """Return the median NSE over the basins with 95 % intervals: of water years drawn again, of basins, and of both."""
    days = observed.period.days
    errors = YearlyErrors.joined(
        [YearlyErrors.of_basin(flow, truth, days) for flow, truth in zip(simulated, observed.discharge, strict=True)]
    )
    drawn = {
        "water_years": median_nse_interval(errors),
        "basins": median_nse_interval(errors, draw_years=False, draw_basins=True),
        "both": median_nse_interval(errors, draw_basins=True),
    }
    return {name: None if interval is None else asdict(interval) for name, interval in drawn.items()}


def quartiles(scores_of_basins: Iterable[Mapping[str, float | None]]) -> Quartiles:
    """Return quartile, median and upper quartile of every metric over the basins that have it."""
    rows = list(scores_of_basins)
    values = {metric: [row[metric] for row in rows if row[metric] is not None] for metric in METRICS}
    return {metric: np.percentile(np.array(known, float), [25, 50, 75]).tolist() for metric, known in values.items()}


def _counts(scores_of_basins: Sequence[Scores]) -> dict[str, int]:
    """Return how many basins have a score, by its metric."""
    return {metric: sum(row[metric] is not None for row in scores_of_basins) for metric in METRICS}


OTHERS: Mapping[str, Callable[[], dict[str, Any]]] = {
    "folds": _folds,
    "snow": lambda: snow_skill(shipped(ENSEMBLE)),
    "snow-twins": lambda: snow_skill(shipped(TODAY), all_basins=False),
    "snow-us": lambda: _snow_of_parts(""),
    "snow-us-twins": lambda: _snow_of_parts("-today"),
    "loss": lambda: loss.measure(load(shipped(ENSEMBLE))),
    "snow-volumes": lambda: snow_volumes.measure(load(shipped(ENSEMBLE))),
    "uncertainty": uncertainty.seen,
    "uncertainty-unseen": uncertainty.unseen,
    "uncertainty-us": uncertainty.combined,
    "uncertainty-us-unseen": uncertainty.combined_unseen,
    "us": lambda: us.score("both", "maurer"),
    "us-buckets": lambda: us.score("buckets"),
    "us-twins": lambda: us.score_twins("both", "with-fused"),
    "us-with-fused": lambda: us.score("with-fused"),
    "us-folds": lambda: us.score_folds("both", "maurer", "buckets", "with-fused"),
    "draws-us": duration_curves.measure,
    "volumes": lambda: volumes.measure(load(shipped(ENSEMBLE)), observe),
}
NAMES = ("mclstm", "twins", "us-maurer-buckets", *COMPARED, *OTHERS)
