"""Stores to view the pages of, filled by the command line, and the API over one of them."""

import os
import shutil
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from urllib.request import urlopen

from benchmarks.regional import data
from freshet.demo.demonstration import AS_OF
from runtime import child_processes
from testing.processes import free_port

PATIENCE = 90.0  # seconds
ENSEMBLE = "mclstm-maurer-447"
HORIZON = 10
MELTING = datetime.fromisoformat("1981-05-14T18:00:00+00:00")
"""The clock over CAMELS-US: snow is melting, and 16 months of weather before it are enough for a forecast."""


@contextmanager
def served(store: Path, as_of: datetime, command: str = "api") -> Iterator[tuple[str, int]]:
    """Serve a store by `freshet api`, or `serve`; give its address and the process that serves it."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    arguments = child_processes.python_command("freshet", command, "--port", str(port))
    with subprocess.Popen(arguments, env=_environment(store, as_of), stderr=subprocess.DEVNULL) as server:
        try:
            _await(lambda: urlopen(f"{address}/health/ready").status == 200)
            yield address, server.pid
        finally:
            server.terminate()


def demonstration(folder: Path) -> Path:
    """Make the store of the demonstration; its clock is `AS_OF`."""
    run(folder, AS_OF, "demo", "--once")
    return folder / "demo"


def camels(folder: Path) -> Path:
    """Make a store of the 447 basins with one forecast of each; its clock is `MELTING`."""
    store = folder / "camels"
    store.mkdir()
    files = [part for file in data.FILES for part in ("--from", str(data.camels() / file))]
    run(store, MELTING, "ingest", "camels", *files)
    run(store, MELTING, "models", "install-pretrained", ENSEMBLE, "--promote")
    run(store, MELTING, "forecast", "--t0", f"{MELTING - timedelta(days=1):%Y-%m-%d}", "--horizon", str(HORIZON))
    return store


def many(store: Path, folder: Path, basins: int) -> Path:
    """Make a store of many basins: those of another, copied beside themselves, with what the first page reads."""
    copied = folder / "many"
    shutil.copytree(store, copied)
    with closing(sqlite3.connect(copied / "freshet.sqlite")) as database, database:
        stored = database.execute("SELECT count(*) FROM basins").fetchone()[0]
        for copy in range(1, -(-basins // stored)):
            for table in ("basins", "promotions", "run_basins", "newest_runs", "alert_basins", "alerts", "scores"):
                database.execute(_copy_of(database, table, copy))
    return copied


def _copy_of(database: sqlite3.Connection, table: str, copy: int) -> str:
    """Return the statement that copies a table's rows for other basins, some miles away."""
    key = "id" if table == "basins" else "basin_id"
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    columns = [name for name in columns if (table, name) != ("promotions", "id")]
    changed = {key: f"{key} || '{copy:02}'", "latitude": f"latitude + {copy} * 0.05"}
    values = ", ".join(changed.get(name, name) for name in columns)
    return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table} WHERE length({key}) = 13"  # noqa: S608


def run(store: Path, as_of: datetime, *command: str) -> None:
    """Run a command of `freshet` on a store."""
    subprocess.run(
        child_processes.python_command("freshet", *command),
        env=_environment(store, as_of),
        stdout=subprocess.DEVNULL,
        check=True,
    )


def _environment(store: Path, as_of: datetime) -> dict[str, str]:
    own = {"FRESHET_DATA": str(store), "FRESHET_AS_OF": as_of.isoformat(), "FRESHET_REQUESTS_PER_MINUTE": "1000000"}
    return {name: value for name, value in os.environ.items() if name != "FRESHET_DATABASE_URL"} | own


def _await(is_ready: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if is_ready():
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("The server does not come up.")
