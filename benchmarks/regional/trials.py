"""One member of a recipe, scored on the validation period alone: `results/trials/NAME-SEED.json`, curve and seconds."""

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.regional.data import VALIDATION, basins, opened, require_all
from benchmarks.regional.recipes import RECIPES
from benchmarks.regional.score import Quartiles, observe, quartiles, scores, simulate
from jobspec.training import TrainingConfig
from models.ensemble import Ensemble
from models.scaling import Scaler
from models.training import MemberTraining, Progress
from operations.training_data import prepare
from records.ids import fingerprint
from records.settings import Settings

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
    result = {
        "recipe": name,
        "seed": seed,
        "basins": len(member.data.discharge),
        "config": config.model_dump(mode="json"),
        "steps": member.step,
        "core_minutes": member.seconds / 60,
        "log": member.log,
        "validation": _validation(member, names),
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}-{seed}.json").write_text(json.dumps(result, indent=1) + "\n")


def _validation(member: MemberTraining, names: Sequence[str]) -> Quartiles:
    """Return the quartiles of all scores of the best weights over the validation period."""
    assert member.best is not None
    ensemble, observed = (
        Ensemble.load(member.config, member.scaler, {0: member.best}, member.learnt_from),
        observe(names, VALIDATION),
    )
    return quartiles(scores(simulate(ensemble, names).over(observed.period)[0], observed))
