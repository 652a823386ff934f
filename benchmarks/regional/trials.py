"""One member of a recipe, scored on the validation period alone: `results/trials/NAME-SEED.json`, curve and seconds."""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.regional.data import VALIDATION, basins, opened, require_all
from benchmarks.regional.recipes import RECIPES
from benchmarks.regional.score import quartiles, scores
from benchmarks.regional.simulations import Array, observe, simulate
from hydrology.base.calendar import Period
from jobspec.training import TrainingConfig
from models.ensemble import Ensemble
from models.scaling import Scaler
from models.training import MemberTraining, Progress
from operations.training.training_data import prepare
from records.database.ids import fingerprint
from runtime.settings import Settings

RESULTS = Path(__file__).parent / "results" / "trials"


class _OutOfTimeError(Exception):
    """Ends a training whose hours are over."""


def lone_member(config: TrainingConfig, names: Sequence[str], seed: int) -> MemberTraining:
    """Return the training of one member on some basins, at its beginning."""
    database = opened()
    with database.reading() as session:
        prepared = prepare(session, config, names)
    database.close()
    require_all(prepared.left_out)
    data = prepared.data
    return MemberTraining(config, data, Scaler.fit(data.forcing.over(config.train_period)), seed)


def trial(name: str, seed: int) -> None:
    """Train one member of a recipe, from where it was stopped, and write its curve."""
    recipe = RECIPES[name]
    config = recipe.config()
    names = basins()[recipe.every - 1 :: recipe.every]
    member = lone_member(config, names, seed)
    made = fingerprint(config.model_dump(mode="json"))[:8]
    checkpoint = Settings.load().data / f"trial-{name}-{seed}-{made}.safetensors"
    if checkpoint.exists():
        member.resume(checkpoint.read_bytes())

    def keep(_step: int, blob: bytes) -> None:
        part = checkpoint.with_suffix(".part")
        part.write_bytes(blob)
        part.replace(checkpoint)

    def tell(progress: Progress) -> None:
        if progress.validation is not None:
            minutes, nse = member.seconds / 60, progress.validation.value
            print(f"{name} {seed}: step {progress.step}, {nse:.4f}, {minutes:.1f} min", flush=True)
        if recipe.hours is not None and member.seconds > recipe.hours * 3600:
            raise _OutOfTimeError

    with contextlib.suppress(_OutOfTimeError):
        member.run(keep, tell)
    observed, simulated = observe(names, VALIDATION), _simulated(member, names)
    np.save(_simulation(name, seed), simulated)
    result = {
        "recipe": name,
        "seed": seed,
        "basins": len(member.data.discharge),
        "config": config.model_dump(mode="json"),
        "steps": member.step,
        "core_minutes": member.seconds / 60,
        "log": member.log,
        "validation": quartiles(scores(simulated, observed)),
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}-{seed}.json").write_text(json.dumps(result, indent=1) + "\n")


def _simulated(member: MemberTraining, names: Sequence[str]) -> Array:
    """Return the discharge by the best weights over the validation period, (basins, days) in mm/day."""
    assert member.best is not None
    ensemble = Ensemble.load(member.config, member.scaler, {0: member.best}, member.learnt_from)
    discharge: Array = simulate(ensemble, names).over(Period.parse(VALIDATION))[0]
    return discharge


def _simulation(name: str, seed: int) -> Path:
    return Settings.load().data / f"trial-{name}-{seed}.npy"


def mean(trials: Sequence[str]) -> None:
    """Print the scores of the mean of some trials on the validation period: what members add to each other.

    Args:
        trials: `NAME-SEED` each, of all basins; one may stand there several times.
    """
    simulated = []
    for trial in trials:
        name, _, seed = trial.rpartition("-")
        path = _simulation(name, int(seed))
        if not path.exists():
            raise SystemExit(f"{path} is missing: `python -m benchmarks.regional trial {name} {seed}` makes it.")
        simulated.append(np.load(path))
    of_mean = quartiles(scores(np.mean(simulated, axis=0), observe(basins(), VALIDATION)))
    print(json.dumps({"trials": list(trials), "validation": of_mean}, indent=1))
