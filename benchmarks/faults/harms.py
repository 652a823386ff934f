"""What is done to a service."""

import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any

from benchmarks.python_path import with_benchmarks
from benchmarks.service.running import Service, send
from benchmarks.speed.country import PRODUCT
from freshet.supervisor.supervised_process import STEADY
from hydrology.base.calendar import day
from runtime import child_processes
from testing.processes import children
from testing.synthetic import archive as synthetic

MINUTE, HALF_A_MINUTE = 60.0, 30.0
INGESTED = 50  # basins
TRAINING: Mapping[str, Any] = {
    "inputs": {"product": PRODUCT},
    "train_period": "1999-10-01..2008-09-30",
    "windows": {"spinup_days": 60, "loss_days": 60, "batch": 4},
    "schedule": {"kind": "cosine", "steps": 300},
    "checkpoint_every": 10,
    "members": 1,
}
PARTS = ("api", "scheduler", "worker default", "broker")


def signals(parts: Sequence[str]) -> dict[str, Callable[[Service], None]]:
    """Return the killing and the stopping of each of some parts, and of the process that runs the jobs."""
    return {
        **{f"{part} killed": partial(_signal, part=part, how=signal.SIGKILL) for part in parts},
        **{f"{part} stopped": partial(_signal, part=part, how=signal.SIGSTOP) for part in parts},
        "process of the jobs killed": partial(_signal_what_runs_the_jobs, how=signal.SIGKILL),
        "process of the jobs stopped": partial(_signal_what_runs_the_jobs, how=signal.SIGSTOP),
    }


def _signal(service: Service, part: str, how: signal.Signals) -> None:
    service.harmed = service.part(part)
    send(service.harmed, how)


def _signal_what_runs_the_jobs(service: Service, how: signal.Signals) -> None:
    while not (running := children(service.part("worker default"))):
        time.sleep(0.1)  # the first job of a worker starts it
    service.harmed = running[0]
    send(service.harmed, how)


def _kill_all(service: Service) -> None:
    """Kill the supervisor, and start it again as systemd would."""
    assert service.process is not None
    service.process.kill()
    service.process.wait()
    service.start()


def _lock(service: Service) -> None:
    """Lock the database for writing, as another process may."""
    file = service.database_url.removeprefix("sqlite:///")
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        time.sleep(MINUTE)
        connection.execute("ROLLBACK")


def _fill_in_forecasts(service: Service) -> None:
    """Fill the disk while forecasts are computed."""
    time.sleep(STEADY)
    _fill(service)


def _fill_in_ingest(service: Service) -> None:
    """Fill the disk while basins are ingested."""
    time.sleep(STEADY)
    folder = service.data / "incoming"
    synthetic.write(folder, basins=INGESTED, first_day=day("1980-10-01"), last_day=day("2005-09-30"), seed=5)
    _await_midst(service, service.post("ingest", {"from": [str(folder)]}))
    _fill(service)


def _fill_in_training(service: Service) -> None:
    """Fill the disk in the midst of a small training."""
    time.sleep(STEADY)
    _await_midst(service, service.post("training", {"config": TRAINING}))
    _fill(service)


def _await_midst(service: Service, job: str) -> None:
    """Wait until a job of five seconds has run for two."""
    with service.client() as client:
        while (status := client.get(f"/v1/jobs/{job}").json()["status"]) not in ("running", "waiting"):
            if status != "queued":
                raise SystemExit(f"The job {job} was to be under way, and has {status}.")
            time.sleep(0.1)
    time.sleep(2.0)


def _fill(service: Service) -> None:
    """Fill the disk for a while."""
    filler = service.data / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(2**20))
    time.sleep(HALF_A_MINUTE)
    filler.unlink()


def _two_schedulers(service: Service) -> None:
    _beside(service, "freshet", "scheduler", seconds=15.0)


def _clock(service: Service, days: int) -> None:
    """Have a scheduler whose clock is wrong take part for a while."""
    _beside(service, "benchmarks.faults.skewed", str(days), seconds=15.0)


def _beside(service: Service, *command: str, seconds: float) -> None:
    with subprocess.Popen(
        child_processes.python_command(*command), env=with_benchmarks(service.environment())
    ) as process:
        time.sleep(seconds)
        process.terminate()


def _broker_away(service: Service) -> None:
    assert service.broker is not None
    service.broker.kill()
    time.sleep(MINUTE)
    service.broker.start()


def _database_crashed(service: Service) -> None:
    assert service.postgresql is not None
    service.postgresql.stop_for(10, how=signal.SIGQUIT)


ON_SQLITE: Mapping[str, Callable[[Service], None]] = {
    **signals(PARTS),
    "all killed, and started again": _kill_all,
    "SQLite locked for a minute": _lock,
    "disk full for half a minute": _fill_in_forecasts,
    "disk full for half a minute in an ingest": _fill_in_ingest,
    "disk full for half a minute in a training": _fill_in_training,
    "two schedulers": _two_schedulers,
    "a scheduler's clock a year ahead": partial(_clock, days=365),
    "a scheduler's clock a year behind": partial(_clock, days=-365),
}
ON_POSTGRESQL: Mapping[str, Callable[[Service], None]] = {
    "worker default killed": signals(PARTS)["worker default killed"],
    "broker gone for a minute, and empty": _broker_away,
    "PostgreSQL crashed, and back after 10 seconds": _database_crashed,
}
