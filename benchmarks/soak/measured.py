"""Half an hour of all that a service does, on SQLite, while a random part of it is killed or stopped every minute.

Synthetic basins, an untrained ensemble; loopback alone. Two clients read pages and data of many kinds, one posts jobs
of many kinds, feeds are asked of a local server. What is to be killed or stopped is drawn from a seeded generator. A
fault is under way until what was harmed has been replaced, all parts are there, and the service reports no more
degradations than before. What was not answered is posted again under the same idempotency key. A job is lost if it was
accepted and does not succeed, or leaves no run where it was to make one; doubled if it leaves more than one.

Memory is given by part: the slope of least squares over the samples of its lives, each with a mean of its own, their
first minute left out. `--minutes` makes it shorter; `--spare api` leaves a part alone, whose memory is then that of a
long life.
"""

import random
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import structlog

from benchmarks.faults.harms import PARTS, signals
from benchmarks.service.running import Service, on_sqlite
from benchmarks.service.store import storing
from benchmarks.soak import account
from benchmarks.soak.clients import Clients
from benchmarks.soak.country import FEEDS, T0, country, settings, world
from benchmarks.soak.holdings import Watcher
from benchmarks.soak.requests import OWN, OWN_BASIN
from benchmarks.speed.daily_cycle import LIVE
from records.database.engine import Database
from testing.feed_services.server import serving

log = structlog.get_logger()

MINUTES, SEED = 30.0, 20
FAULTS = signals((*PARTS, "worker ingest", "worker training", "worker delivery"))
PAUSE = (40.0, 60.0)  # seconds from the end of a fault to the next, at least and at most
PATIENCE = 120.0  # seconds until a service counts as not coming back


def measure(minutes: float = MINUTES, spare: str | None = None) -> dict[str, Any]:
    """Return the account of answers, jobs, faults and memory.

    Args:
        spare: the part that is neither killed nor stopped.
    """
    names = [name for name in sorted(FAULTS) if spare is None or not name.startswith(f"{spare} ")]
    with TemporaryDirectory(dir="/tmp") as folder, serving(world()) as url:
        store = storing(Path(folder) / "store.sqlite", country(), LIVE, T0, FEEDS)
        with on_sqlite(Path(folder) / "data", store, settings(url)) as service:
            return _soaked(service, 60 * minutes, names)


def _soaked(service: Service, seconds: float, names: Sequence[str]) -> dict[str, Any]:
    clients, watcher = Clients(service, _names(service), SEED), Watcher(service)
    clients.start()
    watcher.start()
    faults = _harm(service, time.monotonic() + seconds, names)
    clients.stop()
    with closing(Database(service.database_url)) as database:
        of_jobs = account.of_jobs(database, clients.accepted)
    watcher.stop()
    windows = [fault["window"] for fault in faults]
    return {
        "minutes": seconds / 60,
        "answers": account.of_answers(clients.answers, windows),
        "jobs": of_jobs,
        "faults": [{"fault": fault["fault"], "seconds_until_back": fault["seconds_until_back"]} for fault in faults],
        "processes": watcher.of_parts(),
        "tree": watcher.of_tree(windows),
        "data_folder": watcher.of_folder(),
    }


def _names(service: Service) -> dict[str, str]:
    """Return what stands for the names in the addresses, and register the basin that observations are posted of."""
    with service.client() as client:
        client.put(f"/v1/basins/{OWN}", json=OWN_BASIN).raise_for_status()
        run = client.get("/v1/runs").raise_for_status().json()["runs"][0]["id"]
        version = client.get("/v1/models").raise_for_status().json()["models"][0]["id"]
    return {"basin": country().basins()[0], "run": run, "version": version}


def _harm(service: Service, end: float, names: Sequence[str]) -> list[dict[str, Any]]:
    """Harm the service again and again until an instant, or until it does not come back; return what was done, and how
    long it took to come back."""
    chance, parts = random.Random(SEED), set(service.parts())
    faults: list[dict[str, Any]] = []
    while not faults or faults[-1]["seconds_until_back"] is not None:
        pause = chance.uniform(*PAUSE)
        if time.monotonic() + pause > end:
            time.sleep(max(0.0, end - time.monotonic()))
            break
        time.sleep(pause)
        name = chance.choice(names)
        usual, started = service.status_codes(), time.monotonic()
        FAULTS[name](service)
        harmed = time.monotonic()
        mended = _await_mending(service, usual, parts)
        seconds = None if mended is None else round(mended - harmed, 1)
        faults.append({"fault": name, "seconds_until_back": seconds, "window": (started, mended or time.monotonic())})
        log.warning("soak.fault", fault=name, seconds_until_back=seconds)
    return faults


def _await_mending(service: Service, usual: set[str], parts: set[str]) -> float | None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if service.is_mended(usual) and set(service.parts()) == parts:
            return time.monotonic()
        time.sleep(0.1)
    return None
