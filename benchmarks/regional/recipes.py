"""The recipes that were tried, by name: what each changes of the defaults of a training."""

from typing import Any

from benchmarks.regional.data import PRODUCT, TRAINING, VALIDATION
from models.config import TrainingConfig

RECIPES: dict[str, dict[str, Any]] = {
    "default": {},
    # What the kept members are trained by; until there are some, another may take its place.
    "frozen": {"schedule": {"kind": "cosine", "steps": 3000}},
    "lstm": {"network": {"architecture": "lstm"}, "schedule": {"kind": "cosine", "steps": 3000}},
}


def recipe(name: str, **changes: Any) -> TrainingConfig:
    """Return the training of a recipe on the paper's periods."""
    settings = {
        "inputs": {"product": PRODUCT},
        "train_period": TRAINING,
        "validation_period": VALIDATION,
        "validate_every": 250,
        "checkpoint_every": 50,
    }
    return TrainingConfig.model_validate(settings | RECIPES[name] | changes)
