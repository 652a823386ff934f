"""The main job on synthetic basins, through the whole service: jobs posted over REST, watched, forecasts read back."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Protocol

from app.jobs.schemas import Job
from freshet.client import Client, ServiceError
from ingestion.sources import synthetic
from jobspec.jobs.forecasting import MORNING
from records import audit, keys, private, python_processes
from records.clock import Clock
from records.engine import Database
from records.parent import end_with_parent
from records.settings import Settings

# The synthetic record is 1996-10-01..2008-09-30.
TRAINING = {
    "inputs": {"product": synthetic.PRODUCT},
    "train_period": "1998-10-01..2005-09-30",
    "validation_period": "2005-10-01..2006-09-30",
    "windows": {"spinup_days": 180, "loss_days": 365, "batch": 16},
    "schedule": {"kind": "cosine", "steps": 150, "peak_learning_rate": 0.02, "warmup_steps": 10},
    "validate_every": 50,
    "members": 3,
}
AS_OF = datetime(2008, 9, 20, 15, tzinfo=UTC)
"""The demonstration's clock: a morning near the end of that record, that leaves 10 days of weather to perturb."""
HELD_OUT = "2006-10-01..2008-09-30"
HORIZON = 10
MORNINGS = 7
"""So many mornings are replayed; the last is that of the clock."""
PATIENCE = 90.0  # seconds that the service has to answer for the first time


class Show(Protocol):
    """Shows how far a piece of work is."""

    def __call__(self, what: str, done: int, total: int, detail: str = "") -> None: ...


@dataclass(frozen=True, slots=True)
class Demonstrated:
    """What the main job came to.

    Attributes:
        skill: the evaluation job's result on the held-out years.
        forecasts: the latest forecast of every basin, as the API tells it (mm/day).
        status: of the service.
    """

    skill: dict[str, Any]
    forecasts: dict[str, Any]
    status: dict[str, Any]


@contextmanager
def service(settings: Settings, host: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """Run the whole service as a process, and stop it at the end."""
    environment = os.environ | {"FRESHET_DATA": str(settings.data), "FRESHET_DATABASE_URL": settings.database_url}
    environment.pop("FRESHET_INGEST_ROOTS", None)  # the synthetic basins lie in the default folder
    if settings.as_of is not None:
        environment["FRESHET_AS_OF"] = settings.as_of.isoformat()
    command = python_processes.command("freshet", "serve", "--host", host, "--port", str(port))
    log = settings.data / "service.log"
    private.make_folder(log.parent)
    with open(log, "ab", opener=private.opener) as said:
        process = subprocess.Popen(
            command,
            env=environment,
            stdout=said,
            stderr=said,
            preexec_fn=partial(end_with_parent, signal.SIGTERM),  # noqa: PLW1509 - there are no threads here
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def demonstrate(
    settings: Settings, process: subprocess.Popen[bytes], address: str, architecture: str | None, show: Show
) -> Demonstrated:
    """Do the main job over REST. What is already done is not done again.

    Args:
        architecture: of the network that is trained; None for the shipped ensemble, which is not.

    Raises:
        ServiceError: the service does not come up, or refuses something.
        DataProblem: a job failed.
    """
    files = settings.ingest_roots[0] / "synthetic-camels"
    synthetic.write(files)
    with Client(address, _token(settings)) as client:
        _await(client, process, settings)
        _do(client, "ingest", {"from": [str(files)]}, show)
        basins = [basin.id for basin in client.basins()]
        if architecture is None:
            made = _do(client, "pretrained", {"product": synthetic.PRODUCT, "promote": True}, show)
        else:
            config = TRAINING | {"network": {"architecture": architecture, "cells": 16}}
            made = _do(client, "training", {"config": config, "basins": basins, "label": "demo"}, show)
        skill = _do(client, "evaluation", {"period": HELD_OUT, "version": made["version"], "basins": basins}, show)
        _do(client, "replay", {"period": _mornings(settings), "horizon": HORIZON}, show)
        _do(client, "volumes", {"basins": basins}, show)
        _do(client, "levels", {"basins": basins}, show)
        forecasts = client.get("/v1/forecasts", basins=",".join(basins), units="mm/day")
        return Demonstrated(skill, forecasts, client.get("/v1/status"))


def _mornings(settings: Settings) -> str:
    """Return the last mornings by the clock."""
    now = Clock(settings.as_of).now()
    last = now.date() if now.timetz() >= MORNING else now.date() - timedelta(days=1)
    return f"{last - timedelta(days=MORNINGS - 1)}..{last}"


def _token(settings: Settings) -> str:
    """Make a key for this demonstration alone."""
    database, clock = Database(settings.database_url), Clock()
    try:
        with database.transaction() as session:
            key, token = keys.make(session, "demo", "admin", None, clock.wall())
            audit.record(session, audit.command_line(), "key made", key.id, clock.wall(), name=key.name)
            return token
    finally:
        database.close()


def _await(client: Client, process: subprocess.Popen[bytes], settings: Settings) -> None:
    end = time.monotonic() + PATIENCE
    while not client.ready():
        if process.poll() is not None or time.monotonic() > end:
            raise ServiceError(f"The service does not start: read {settings.data / 'service.log'}.")
        time.sleep(0.2)


def _do(client: Client, kind: str, params: dict[str, Any], show: Show) -> dict[str, Any]:
    """Post a job, show how it gets on, and return its result."""
    job = client.post_job(kind, params).id

    def look(found: Job) -> None:
        parts = client.jobs(parent=job) if kind == "training" else [found]
        for part in parts:
            if part.progress is not None:
                name = f"member {(part.params or {})['member']}" if kind == "training" else kind
                show(name, part.progress.done, part.progress.total, part.progress.detail or "")

    result = client.watch(job, look).result
    assert result is not None
    show(kind, 1, 1, "done")
    return result
