"""One member of a recipe, scored on the validation period alone: `results/trials/NAME-SEED.json`, curve and seconds."""

import json
from pathlib import Path

from benchmarks.regional.data import basins, opened
from benchmarks.regional.recipes import recipe
from hydrology.calendar import Period
from models.config import TrainingConfig
from models.scaling import Scaler
from models.training import MemberTraining, Progress
from operations.training_data import prepare
from records.settings import Settings

RESULTS = Path(__file__).parent / "results" / "trials"


def lone_member(config: TrainingConfig, seed: int) -> MemberTraining:
    """Return the training of one member on the 447 basins, at its beginning."""
    database = opened()
    with database.reading() as session:
        data = prepare(session, config, basins()).data
    database.close()
    return MemberTraining(config, data, Scaler.fit(data.forcing.over(Period.parse(config.train_period))), seed)


def trial(name: str, seed: int) -> None:
    """Train one member of a recipe, from where it was stopped, and write its curve."""
    config = recipe(name)
    member = lone_member(config, seed)
    kept = Settings.load().data / f"trial-{name}-{seed}.safetensors"
    if kept.exists():
        member.resume(kept.read_bytes())

    def keep(_step: int, blob: bytes) -> None:
        part = kept.with_suffix(".part")
        part.write_bytes(blob)
        part.replace(kept)

    def tell(progress: Progress) -> None:
        if progress.validation_nse is not None:
            minutes = member.seconds / 60
            print(f"{name} {seed}: step {progress.step}, {progress.validation_nse:.4f}, {minutes:.1f} min", flush=True)

    trained = member.run(keep, tell)
    result = {
        "recipe": name,
        "seed": seed,
        "config": config.model_dump(mode="json"),
        "core_minutes": trained.seconds / 60,
        "log": trained.log,
    }
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}-{seed}.json").write_text(json.dumps(result, indent=1) + "\n")
