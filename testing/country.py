"""A small synthetic country of three basins, and a training on it that takes a second.

It can have a second weather product, with a version on it and one that combines both.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from sqlalchemy.orm import Session

from hydrology.base.calendar import day
from ingestion.sources.camels import CamelsSource
from jobspec.network import MCLSTMConfig
from jobspec.training import Cosine, InputsConfig, TrainingConfig, WindowsConfig
from operations.basin_data.ingest import ingest
from records.basins import basins
from records.database.engine import Database
from records.series import series, series_writer
from records.versions import combinations, versions
from records.versions.versions import NewVersion, Version
from runtime.clock import Clock
from testing.records import a_source
from testing.synthetic import archive as synthetic
from testing.training import train
from testing.work import work_of

BASINS = ("SYNTH-01", "SYNTH-02", "SYNTH-03")
CLOCK = Clock()
FIRST, SECOND = "synthetic", "second"
WEATHER = ("precipitation", "tmax", "tmin", "srad", "vp")


def write_country(folder: Path, last_day: str = "2005-09-30") -> None:
    """Write the basins' files from 2000-10-01 on, by default of five years."""
    synthetic.write(folder, basins=len(BASINS), first_day=day("2000-10-01"), last_day=day(last_day))


def train_on(country: Path, file: Path, **changes: object) -> None:
    """Have a SQLite file hold a country and a version."""
    database = Database(f"sqlite:///{file}")
    ingest(work_of(database, CLOCK), CamelsSource([country]))
    train(work_of(database, CLOCK), configuration(**changes), BASINS)
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


def add_second_product(session: Session, clock: Clock, factor: float = 1.2) -> None:
    """Store a second product in every basin: the first with its precipitation times a factor."""
    source = a_source(session)
    for basin in BASINS:
        stored = basins.get(session, basin)
        basins.upsert(session, dataclasses.replace(stored, areas={**stored.areas, SECOND: stored.areas[FIRST]}))
        for entry in series.catalogue(session, basin):
            if entry.product == FIRST and entry.variable in WEATHER:
                first = series.read(session, basin, FIRST, entry.variable)
                assert first is not None
                times = factor if entry.variable == "precipitation" else 1
                second = dataclasses.replace(first, values=(first.values * times).astype(np.float32))
                series_writer.write(session, basin, SECOND, entry.variable, second, source_id=source, at=clock.now())


def second_version(session: Session, first: Version, members: slice = slice(1, None)) -> Version:
    """Store a version on the second product, with some members of the first."""
    fields = {part.name: getattr(first, part.name) for part in dataclasses.fields(NewVersion)}
    config = first.config | {"inputs": first.config["inputs"] | {"product": SECOND}}
    fields |= {"product": SECOND, "config": config, "label": "on the second product"}
    return versions.create(session, NewVersion(**fields), versions.members_of(session, first.id)[members])


def combined(database: Database, clock: Clock, weights: tuple[float, float] = (0.7, 0.3)) -> Version:
    """Add a second product, a version on it, and one that combines the newest version with it."""
    with database.transaction() as session:
        add_second_product(session, clock)
        first = versions.newest(session)
        second = second_version(session, first)
        shares: Mapping[str, float] = dict(zip((first.id, second.id), weights, strict=True))
        return combinations.combine(session, shares, label="both", wall=clock.wall(), now=clock.now())
