"""A member of a recipe, scored on the validation years, with its curve: `results/trials/FAMILY/NAME-SEED.json`."""

import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.regional import members
from benchmarks.regional.data import PRODUCTS, opened, require_all
from benchmarks.regional.recipes import RECIPES
from benchmarks.regional.score import quartiles, scores
from benchmarks.regional.simulations import Array, observe, shipped, simulate
from hydrology.base.absent import texts
from hydrology.base.calendar import Period
from hydrology.base.digests import fingerprint
from jobspec.training import TrainingConfig
from models.ensemble import Ensemble
from models.forcing import Scaler, days_of
from models.pretrained.form import load
from models.training import MemberTraining, Progress
from operations.training.training_data import prepare
from runtime.settings import Settings
from runtime.stored_files import replace_file

RESULTS = Path(__file__).parent / "results" / "trials"


class _OutOfTimeError(Exception):
    """Ends a training whose hours are over."""


def lone_member(config: TrainingConfig, names: Sequence[str], seed: int) -> MemberTraining:
    """Return the training of one member on some basins, at its beginning."""
    database = opened(config.inputs.product)
    with database.reading() as session:
        prepared = prepare(session, config, names)
    database.close()
    require_all(texts(prepared.left_out))
    data = prepared.data
    return MemberTraining(config, data, Scaler.fit(data.forcing.over(config.train_period)), seed)


def trial(name: str, seed: int) -> None:
    """Train one member of a recipe, from where it was stopped, and write its curve."""
    recipe, member = RECIPES[name], _resumed(name, seed)
    checkpoint = _checkpoint(name, seed)

    def save(_step: int, blob: bytes) -> None:
        replace_file(checkpoint, blob)

    def report(progress: Progress) -> None:
        if progress.validation is not None:
            minutes, nse = member.seconds / 60, progress.validation.value
            print(f"{name} {seed}: step {progress.step}, {nse:.4f}, {minutes:.1f} min", flush=True)
        if recipe.hours is not None and member.seconds > recipe.hours * 3600:
            raise _OutOfTimeError

    with contextlib.suppress(_OutOfTimeError):
        member.run(save, report)
    names, period = recipe.basins, Period.parse(PRODUCTS[recipe.product].validation)
    observed = observe(names, str(period), recipe.product)
    simulated: Array = simulate(_ensemble(member), names, period.last).over(period)[0]
    np.save(_simulation(name, seed), simulated)
    result = {
        "recipe": name,
        "seed": seed,
        "basins": len(member.data.discharge),
        "config": member.config.model_dump(mode="json"),
        "steps": member.step,
        "core_minutes": member.seconds / 60,
        "log": member.log,
        "validation": quartiles(scores(simulated, observed)),
    }
    family = RESULTS / name.partition("-")[0]
    family.mkdir(parents=True, exist_ok=True)
    (family / f"{name}-{seed}.json").write_text(json.dumps(result, indent=1) + "\n")


def trained(trial: str) -> Ensemble:
    """Return the member of a trial, `NAME-SEED`, with its best weights so far."""
    name, seed = _parsed(trial)
    if not _checkpoint(name, seed).exists():
        raise SystemExit(f"`python -m benchmarks.regional trial {name} {seed}` trains it first.")
    return _ensemble(_resumed(name, seed))


def _resumed(name: str, seed: int) -> MemberTraining:
    """Return the training of a trial, where it was stopped or at its beginning."""
    recipe = RECIPES[name]
    member, checkpoint = lone_member(recipe.config(), recipe.basins, seed), _checkpoint(name, seed)
    if checkpoint.exists():
        member.resume(checkpoint.read_bytes())
    return member


def _checkpoint(name: str, seed: int) -> Path:
    created = fingerprint(RECIPES[name].config().model_dump(mode="json"))[:8]
    return Settings.load().data / f"trial-{name}-{seed}-{created}.safetensors"


def _ensemble(member: MemberTraining) -> Ensemble:
    assert member.best is not None
    return Ensemble.load(member.config, member.scaler, {0: member.best}, member.learnt_from)


def _simulation(name: str, seed: int) -> Path:
    return _checkpoint(name, seed).with_suffix(".npy")


def _parsed(trial: str) -> tuple[str, int]:
    name, _, seed = trial.rpartition("-")
    if name not in RECIPES or not seed.isdecimal():
        raise SystemExit(f"{trial!r} is not a trial: give NAME-SEED, NAME one of {', '.join(sorted(RECIPES))}.")
    return name, int(seed)


def mean(parts: Sequence[str]) -> None:
    """Print the scores of a weighted mean on the validation days and basins that all its parts cover.

    Args:
        parts: trials as `NAME-SEED`, or series whose shipped members are averaged; each with its weight before it, as
            `0.3:daymet-0`, or 1.
    """
    weights, simulations = zip(*map(_part, parts), strict=True)
    names = [name for name in simulations[0].basins if all(name in one.basins for one in simulations)]
    first = max(simulations, key=lambda one: one.period.first)
    period = Period(first.period.first, min(one.period.last for one in simulations))
    discharge = [one.over(names, period) for one in simulations]
    of_mean = scores(np.average(discharge, axis=0, weights=weights), observe(names, str(period)))
    result = {"parts": list(parts), "period": str(period), "basins": len(names), "validation": quartiles(of_mean)}
    print(json.dumps(result, indent=1))


@dataclass(frozen=True, slots=True)
class _Simulation:
    """Discharge of some basins over a validation period, (basins, days) in mm/day."""

    basins: list[str]
    period: Period
    discharge: Array

    def over(self, basins: Sequence[str], period: Period) -> Array:
        rows = [self.basins.index(name) for name in basins]
        days: Array = self.discharge[rows, days_of(self.period, period)]
        return days


def _part(text: str) -> tuple[float, _Simulation]:
    """Return weight and simulation of a part of a mean."""
    *weight, name = text.split(":", 1)
    return float(weight[0]) if weight else 1.0, _of_series(name) if name in members.NAMES else _of_trial(name)


def _of_series(name: str) -> _Simulation:
    chosen = members.series(name)
    names, period = list(chosen.basins), Period.parse(PRODUCTS[RECIPES[chosen.recipe].product].validation)
    return _Simulation(
        names, period, simulate(load(shipped(chosen.folder)), names, period.last).over(period).mean(axis=0)
    )


def _of_trial(trial: str) -> _Simulation:
    name, seed = _parsed(trial)
    path = _simulation(name, seed)
    if not path.exists():
        raise SystemExit(f"{path} is missing: `python -m benchmarks.regional trial {name} {seed}` makes it.")
    recipe = RECIPES[name]
    return _Simulation(recipe.basins, Period.parse(PRODUCTS[recipe.product].validation), np.load(path))
