"""A small synthetic country of three basins, and a training on it that takes a second."""

from pathlib import Path

from hydrology.base.calendar import day
from ingestion.sources import synthetic
from ingestion.sources.camels import CamelsSource
from jobspec.network import MCLSTMConfig
from jobspec.training import Cosine, InputsConfig, TrainingConfig, WindowsConfig
from operations.basin_data.ingest import ingest
from operations.training.train import train
from records.database.engine import Database
from runtime.clock import Clock

BASINS = ("SYNTH-01", "SYNTH-02", "SYNTH-03")
CLOCK = Clock()


def write_country(folder: Path, last_day: str = "2005-09-30") -> None:
    """Write the basins' files from 2000-10-01 on, by default of five years."""
    synthetic.write(folder, basins=len(BASINS), first_day=day("2000-10-01"), last_day=day(last_day))


def train_on(country: Path, file: Path) -> None:
    """Have a SQLite file hold a country and a version."""
    database = Database(f"sqlite:///{file}")
    ingest(database, CamelsSource([country]), CLOCK)
    train(database, CLOCK, configuration(), BASINS)
    database.close()


def configuration(**changes: object) -> TrainingConfig:
    """Return a training of a second."""
    settings: dict[str, object] = {
        "network": MCLSTMConfig(cells=5),
        "inputs": InputsConfig(product=synthetic.PRODUCT),
        "train_period": "2001-10-01..2003-09-30",
        "validation_period": "2003-10-01..2004-09-30",
        "windows": WindowsConfig(spinup_days=60, loss_days=60, batch=4),
        "schedule": Cosine(steps=8, warmup_steps=2, peak_learning_rate=0.02),
        "validate_every": 4,
        "checkpoint_every": 3,
        "members": 2,
    }
    return TrainingConfig.model_validate({**settings, **changes})
