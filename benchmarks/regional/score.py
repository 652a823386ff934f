"""Scores of the weights as they are shipped, over the validation and the test period: `results/NAME.json`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.regional import uncertainty, volumes
from benchmarks.regional.data import PRODUCT, TEST, VALIDATION, basins, opened, require_all
from benchmarks.regional.members import ENSEMBLE, FOLD_MEMBERS, FOLDS, RESULTS, TWIN, fold, series
from benchmarks.regional.snow import snow_skill
from benchmarks.regional.vectors import fitted
from hydrology.bootstrap import YearlyErrors, median_nse_interval
from hydrology.calendar import Period
from hydrology.error_fit import Pairs, fit
from hydrology.scores import all_scores
from jobspec.training import used_periods
from models import checkpoint
from models.arrays import days_of
from models.ensemble import Ensemble
from models.inference import GROUP
from models.pretrained import SHELF, errors, form
from models.scaling import Scaler
from operations.dataset import load_discharge, load_forcing, stacked

FITTED_ON = {ENSEMBLE.name: VALIDATION, TWIN.name: TEST}
"""The years that the error model of a shipped ensemble is fitted on: those that its weights were not."""
METRICS = ("nse", "kge", "beta_nse", "flv", "fhv")

Array = npt.NDArray[np.float32]
Scores = dict[str, float | None]
Quartiles = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Simulated:
    """Discharge of a whole record in mm/day: (members, basins, days)."""

    record: Period
    discharge: Array

    def over(self, period: Period) -> Array:
        """Return the days of a period of it."""
        return self.discharge[..., days_of(self.record, period)]


@dataclass(frozen=True, slots=True)
class Observed:
    """Discharge in mm/day.

    Attributes:
        period: its days.
        discharge: (basins, days), NaN where missing.
        reasons: why a basin has no observations at all, by its name.
    """

    period: Period
    discharge: Array
    reasons: dict[str, str]


def score(name: str) -> None:
    """Score a series: the mean of its members, and each member alone.

    `folds`: each on the basins that it never saw. `snow`, `snow-twins`: of the shipped ensembles. `twins` are scored in
    the test years alone: they have fitted the others. `uncertainty`: the probabilities of the shipped ensemble, and
    `volumes` those with the weather of other years.
    """
    if name == "folds":
        result = _folds()
    elif name == "snow":
        result = snow_skill(ENSEMBLE.name)
    elif name == "snow-twins":
        result = snow_skill(TWIN.name)
    elif name == "uncertainty":
        run = simulate(loaded(shipped(ENSEMBLE)), basins())
        result = uncertainty.measure(run, observe(basins(), str(run.record)))
    elif name == "volumes":
        result = volumes.measure(loaded(shipped(ENSEMBLE)), observe)
    else:
        result = _series(name)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(result, indent=1))


def ship_errors(name: str) -> None:
    """Fit the error model of a shipped ensemble to the years that its weights were not fitted to, and ship it, too."""
    ensemble, period = form.read(SHELF / name), Period.parse(FITTED_ON[name])
    run, observed = simulate(loaded(ensemble), basins()), observe(basins(), FITTED_ON[name])
    simulated = run.over(period).mean(axis=0, dtype=np.float64)
    model = fit(
        {
            basin: Pairs(simulated[at], observed.discharge[at].astype(np.float64))
            for at, basin in enumerate(basins())
            if basin not in observed.reasons
        }
    )
    errors.write(ensemble, errors.ShippedErrors(period, model.days, model.shape, model.basins))
    print(f"{name}: {len(model.basins)} basins, {model.days} observed days of {period}")


def _series(name: str) -> dict[str, Any]:
    ensemble = shipped(series(name).folder)
    run = simulate(loaded(ensemble), basins())
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
        **{label: _skill(run, observe(basins(), text)) for label, text in judged.items()},
    }


def _skill(run: Simulated, observed: Observed) -> dict[str, Any]:
    members = run.over(observed.period)
    mean = members.mean(axis=0)
    ensemble = scores(mean, observed)
    return {
        "ensemble": quartiles(ensemble),
        "median_nse_interval": intervals(mean, observed),
        "singles": [quartiles(scores(member, observed)) for member in members],
        "basins": _counts(ensemble),
        "unobserved": observed.reasons,
    }


def _folds() -> dict[str, Any]:
    """Return the scores of basins never seen, in years never seen, and what members that know them make of them.

    A basin's discharge is the mean of the members of the fold that left it out: as they are, and with a vector fitted
    to two years of the basin. Beside it that of as many members of the ensemble that learnt from all basins.
    """
    unseen, with_vectors, unobserved = list[Scores](), list[Scores](), dict[str, str]()
    singles: list[list[Scores]] = [[] for _ in range(FOLD_MEMBERS)]
    for number in range(1, FOLDS + 1):
        left_out, of = fold(number), shipped(series(f"fold-{number}").folder)
        if seen := set(left_out) & set(of.description.basins):
            raise SystemExit(f"fold-{number} has learnt from {sorted(seen)}: train it again.")
        observed = observe(left_out, TEST)
        members = simulate(loaded(of), left_out).over(observed.period)
        unseen += scores(members.mean(axis=0), observed)
        for of_single, member in zip(singles, members, strict=True):
            of_single += scores(member, observed)
        tuned = simulate(fitted(of, left_out), left_out).over(observed.period)
        with_vectors += scores(tuned.mean(axis=0), observed)
        unobserved |= observed.reasons
    observed = observe(basins(), TEST)
    knowing = simulate(loaded(shipped(series("mclstm").folder)), basins()).over(observed.period)[:FOLD_MEMBERS]
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


def shipped(folder: Path) -> form.Ensemble:
    """Return the ensemble that a folder holds."""
    if not (folder / form.DESCRIPTION).exists():
        raise SystemExit(f"{folder} holds no trained member: `python -m benchmarks.regional train` makes them.")
    return form.read(folder)


def loaded(ensemble: form.Ensemble) -> Ensemble:
    """Return the networks of a shipped ensemble."""
    description = ensemble.description
    weights = {label: checkpoint.parse(blob)[0] for label, blob in ensemble.weights.items()}
    return Ensemble.load(description.config, Scaler.from_json(description.scaler), weights, description.basins)


def simulate(ensemble: Ensemble, names: Sequence[str]) -> Simulated:
    """Return what every member makes of the whole record of every basin, from its first day."""
    database = opened()
    with database.reading() as session:
        loadings = {name: load_forcing(session, name, ensemble.config) for name in names}
    database.close()
    require_all({name: reason for name, reason in loadings.items() if isinstance(reason, str)})
    forcings = [loading.forcing for loading in loadings.values() if not isinstance(loading, str)]
    record = forcings[0].period
    if any(forcing.period != record for forcing in forcings):
        raise SystemExit("The basins' forcings do not cover the same days.")
    blocks = [
        ensemble.simulate(stacked(forcings[first : first + GROUP]), None, ("discharge",))[0]["discharge"]
        for first in range(0, len(forcings), GROUP)
    ]
    return Simulated(record, np.concatenate(blocks, axis=1))


def observe(names: Sequence[str], text: str) -> Observed:
    """Return the observed discharge of basins over a period."""
    period, reasons = Period.parse(text), dict[str, str]()
    discharge: Array = np.full((len(names), len(period)), np.nan, np.float32)
    database = opened()
    with database.reading() as session:
        for row, name in zip(discharge, names, strict=True):
            flow = load_discharge(session, name, [PRODUCT], period)
            if isinstance(flow, str):
                reasons[name] = flow
            else:
                row[:] = flow
    database.close()
    return Observed(period, discharge, reasons)


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
