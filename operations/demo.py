"""The main job on synthetic basins: written, ingested, trained on, evaluated, forecast."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hydrology.calendar import Period
from ingestion.sources import synthetic
from ingestion.sources.camels import CamelsSource
from models.config import Cosine, InputsConfig, NetworkConfig, TrainingConfig, WindowsConfig
from models.training import Progress
from operations.evaluate import Evaluation, evaluate
from operations.forecast import Request, forecast
from operations.ingest import ingest
from operations.train import train
from records.clock import Clock
from records.engine import Database
from records.runs import Run

# The synthetic record is 1996-10-01..2008-09-30.
TRAINING = TrainingConfig(
    network=NetworkConfig(cells=16),
    inputs=InputsConfig(product=synthetic.PRODUCT),
    train_period="1998-10-01..2005-09-30",
    validation_period="2005-10-01..2006-09-30",
    windows=WindowsConfig(warmup_days=180, loss_days=365, batch=16),
    schedule=Cosine(steps=150, peak=0.02, warmup_steps=10),
    validate_every=50,
    members=3,
)
HELD_OUT = Period.parse("2006-10-01..2008-09-30")
HORIZON = 10


class Show(Protocol):
    """Shows how far a piece of work is."""

    def __call__(self, what: str, done: int, total: int, detail: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class Demonstrated:
    """What the main job came to: the skill on the held-out years, and the runs."""

    skill: Evaluation
    runs: list[Run]


def demonstrate(database: Database, clock: Clock, folder: Path, show: Show) -> Demonstrated:
    """Do the main job. What is already done is not done again.

    Args:
        folder: where the synthetic files are written.
        show: gets the progress of each step.
    """
    synthetic.write(folder)
    source = CamelsSource([folder])
    outcomes = ingest(database, source, clock, on_basin=lambda one, at, total: show("ingest", at, total, one.basin))
    basins = [outcome.basin for outcome in outcomes]

    def show_training(member: int, progress: Progress) -> None:
        show(f"train member {member}", progress.step, progress.steps, f"loss {progress.loss:.4f}")

    trained = train(database, clock, TRAINING, basins, label="demo", on_progress=show_training)
    skill = evaluate(
        database, clock, trained.version_id, HELD_OUT, trained.basins, lambda at, total: show("evaluate", at, total)
    )
    request = Request(trained.basins, HORIZON)
    runs = forecast(database, clock, request, lambda at, total: show("basin-days to T0", at, total))
    return Demonstrated(skill, runs)
