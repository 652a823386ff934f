"""The service's daily job beside an operator's replay of ten years: how long it waits until it starts.

`freshet serve` as it comes, with one worker of the default queue, over basins of CAMELS-US and the shipped ensemble: a
copy of the 447 in FRESHET_DATA (built from FRESHET_CAMELS where it holds none), or fewer, from FRESHET_CAMELS. An
operator's key posts two replays, which fill that queue; then an administrator's posts the daily job. Each of its
seconds is counted from its posting. Nothing is waited for but that the daily job computes.
"""

import shutil
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.pages.stores import ENSEMBLE, run
from benchmarks.regional import data
from benchmarks.service.running import Service
from benchmarks.speed.busy import whole_store
from records.access import keys
from records.database.engine import Database
from records.jobs import jobs

ALL = 447
AS_OF = datetime.fromisoformat("2001-05-14T18:00:00+00:00")
REPLAY = {"period": "1990-10-01..2000-09-30"}
PATIENCE = 1800.0  # seconds, for what should take one
TICK = 0.1


def measure(basins: int = ALL) -> dict[str, Any]:
    """Return the seconds that the daily job took to start and to show its first progress."""
    with TemporaryDirectory(dir="/tmp") as folder:
        store = Path(folder) / "store"
        if basins == ALL:
            shutil.copytree(whole_store(), store)
        else:
            _make(store, data.basins()[:basins])
        database = Database(f"sqlite:///{store / 'freshet.sqlite'}")
        with database.transaction() as session:
            now = datetime.now(UTC)
            operator, admin = (keys.make(session, scope, scope, None, now)[1] for scope in ("operator", "admin"))
        service = Service(store, database.url, operator, settings={"FRESHET_AS_OF": AS_OF.isoformat()})
        service.start()
        try:
            return {"basins": basins, **_beside(service, database, admin)}
        finally:
            service.stop()
            database.close()


def _make(store: Path, basins: Sequence[str]) -> None:
    """Make a store of some basins with the shipped ensemble."""
    store.mkdir()
    files = [part for file in data.FILES for part in ("--from", str(data.camels() / file))]
    run(store, AS_OF, "ingest", "camels", *files, *(part for basin in basins for part in ("--basin", basin)))
    run(store, AS_OF, "models", "install-pretrained", ENSEMBLE, "--promote")


def _beside(service: Service, database: Database, admin: str) -> dict[str, Any]:
    replays = [service.post("replay", REPLAY) for _ in range(2)]
    _await(database, replays[0], progress=True)
    service.token = admin
    daily = service.post("daily", {})
    began_at = time.monotonic()
    _await(database, daily, progress=False)
    started = time.monotonic() - began_at
    _await(database, daily, progress=True)
    with database.reading() as session:
        stand = {job.id: job.status for job in jobs.list_jobs(session)}
        progress = jobs.get(session, daily).progress
    return {
        "seconds_to_start": round(started, 2),
        "seconds_to_first_progress": round(time.monotonic() - began_at, 1),
        "progress": progress,
        "replays": [stand[replay] for replay in replays],
        "daily": stand[daily],
    }


def _await(database: Database, job: str, *, progress: bool) -> None:
    """Wait until a job has started, or has ended or shown some progress."""
    last = time.monotonic() + PATIENCE
    while True:
        with database.reading() as session:
            found = jobs.get(session, job)
        if found.started_at is not None and (not progress or found.progress or found.finished_at):
            return
        if time.monotonic() > last:
            raise SystemExit(f"Job {job} is {found.status} after {PATIENCE:g} seconds: {found.problem}")
        time.sleep(TICK)
