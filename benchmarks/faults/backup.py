"""A live service backed up under load, lost with all its data, and restored into an empty place.

On SQLite and on PostgreSQL in turn, of a small synthetic country that has something at every address; loopback alone.
While one client reads and another posts forecast jobs, `freshet backup` writes its file; then every process is killed,
and the data folder and the database are gone. `freshet restore` fills an empty place of the same kind and one of the
other kind.

Every address of the OpenAPI document that can be read is, in each of its formats, except those that describe
the process. Answers of the live service that were equal before and after the backup (the load changes the rest) must be
the answers of the restored services, to the byte; and the two restored must answer everything alike. Of a NetCDF file
all is compared but the second of its creation, which HDF5 writes into it. At last a restored service is started:
every job that was accepted before the backup began must be there, and end as it would have, with one run.
"""

import shutil
import subprocess
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import select

from benchmarks.faults.load import Load
from benchmarks.service.running import Service, on_postgresql, on_sqlite
from hydrology.base.calendar import day
from records.database.engine import Database
from records.jobs import jobs
from records.runs.run_types import RUNS
from runtime import child_processes
from testing.answers import Answers, answers
from testing.api_process import served
from testing.country import BASINS, train_on, write_country
from testing.databases import PostgreSQL
from testing.databases import served as postgresql
from testing.filled_store import FILLED_UNTIL, FilledStore, fill, work

BEFORE, AFTER = 20.0, 5.0  # seconds of load before the backup begins and after it has ended
PATIENCE = 180.0  # seconds that the jobs of a restored service have to end
NOBODY = "http://127.0.0.1:9/hook"
"""A receiver of alert changes that nothing is sent to."""
SETTINGS = {"FRESHET_AS_OF": FILLED_UNTIL.isoformat()}
FIRST_T0 = day("2005-08-01")


@dataclass(frozen=True, slots=True)
class Lost:
    """What is left of a service that is gone.

    Attributes:
        file: the backup.
        seconds: that the backup took.
        answers: of the service before the backup.
        steady: of that, what it answered after it too.
        accepted: the jobs that it had accepted before the backup began.
    """

    file: Path
    seconds: float
    reported: Answers
    steady: Answers
    accepted: list[str]


def measure() -> dict[str, Any]:
    """Return a row for each database that is backed up."""
    with TemporaryDirectory(dir="/tmp") as name, postgresql() as server:
        folder = Path(name)
        store = folder / "store.sqlite"
        stored = _prepared(store)
        places = {"sqlite": on_sqlite, "postgresql": on_postgresql}
        rows = []
        for kind, place in places.items():
            with place(folder / kind, (store, stored.token), SETTINGS) as service:
                lost = _lost(service, stored, folder / f"{kind}.backup")
            rows.append({"backed_up": kind, **_row(lost, stored, folder / f"from-{kind}", server)})
        return {"rows": rows}


def _prepared(store: Path) -> FilledStore:
    """Fill a SQLite file with a small country that has data at every address."""
    with closing(Database(f"sqlite:///{store}")) as database:
        database.migrate()
    write_country(store.parent / "country")
    train_on(store.parent / "country", store)
    work(store)
    return fill(f"sqlite:///{store}", NOBODY)


def _lost(service: Service, stored: FilledStore, file: Path) -> Lost:
    """Back a service up under load, and lose it."""
    address = f"http://127.0.0.1:{service.port}"
    reported = answers(address, stored)
    load = Load(service, BASINS[0], FIRST_T0)
    load.start()
    time.sleep(BEFORE)
    accepted = list(load.accepted)
    started = time.monotonic()
    _freshet(service.environment(), "backup", str(file))
    seconds = time.monotonic() - started
    time.sleep(AFTER)
    later = answers(address, stored)
    load.stop()
    service.kill()
    shutil.rmtree(service.data)
    steady = {where: answer for where, answer in reported.items() if later[where] == answer}
    return Lost(file, seconds, reported, steady, accepted)


def _row(lost: Lost, stored: FilledStore, folder: Path, server: PostgreSQL) -> dict[str, Any]:
    """Return what two places answer that are restored from a backup."""
    urls = {"sqlite": f"sqlite:///{folder / 'sqlite' / 'freshet.sqlite'}", "postgresql": server.new()}
    restored: list[Answers] = []
    row: dict[str, Any] = {
        "backup_seconds": round(lost.seconds, 1),
        "backup_mb": round(lost.file.stat().st_size / 1e6, 1),
        "answers": len(lost.reported),
        "answers_steady_under_the_load": len(lost.steady),
        "jobs_accepted_before": len(lost.accepted),
    }
    for kind, url in urls.items():
        data = folder / kind
        data.mkdir(parents=True)
        service = Service(data, url, stored.token, settings=SETTINGS)
        started = time.monotonic()
        _freshet(service.environment(), "restore", "--send-alerts", str(lost.file))
        seconds = time.monotonic() - started
        with served(url, data) as (address, _):
            restored.append(answers(address, stored))
        row[f"restored_into_{kind}"] = {
            "seconds": round(seconds, 1),
            "differing_from_the_live_service": _differing(lost.steady, restored[-1]),
            **_gone_on(service, lost.accepted),
        }
    row["differing_between_the_restored"] = _differing(*restored)
    return row


def _differing(some: Answers, others: Answers) -> list[str]:
    """Return the addresses and forms of which others answer otherwise."""
    return [" ".join(where) for where, answer in some.items() if others[where] != answer]


def _gone_on(service: Service, accepted: list[str]) -> dict[str, int]:
    """Start a restored service; return how many of some jobs are lost, and how many leave more than one run."""
    service.start()
    try:
        with closing(Database(service.database_url)) as database:
            end = time.monotonic() + PATIENCE
            while not _have_ended(database, accepted) and time.monotonic() < end:
                time.sleep(0.5)
            with database.reading() as session:
                runs = Counter(session.scalars(select(RUNS.c.request_key).where(RUNS.c.request_key.in_(accepted))))
    finally:
        service.stop()
    return {
        "jobs_lost": len(set(accepted) - set(runs)),
        "jobs_doubled": sum(number > 1 for number in runs.values()),
    }


def _have_ended(database: Database, accepted: list[str]) -> bool:
    with database.reading() as session:
        return all(jobs.get(session, job).status in jobs.ENDED for job in accepted)


def _freshet(environment: dict[str, str], *command: str) -> None:
    subprocess.run(
        child_processes.python_command("freshet", *command, "--json"),
        env=environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )
