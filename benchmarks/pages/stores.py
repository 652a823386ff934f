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


COPIED = (
    *("basins", "basin_areas", "promotions", "run_basins", "newest_runs", "alert_basins", "alerts", "scores"),
    *("outlooks", "series"),
)
OF_TABLE = {
    **dict.fromkeys(("run_basins", "outlooks"), "AND (run_id, basin_id) IN (SELECT run_id, basin_id FROM newest_runs)"),
    "series": "AND variable = 'discharge' AND year >= {year}",
}
"""The part of a table that is copied, where not all."""
CALM_COPIES = 29
"""One copy in this number has the alerts of its basin."""


def many(store: Path, folder: Path, basins: int, year: int) -> Path:
    """Make a store of many basins: those of another, copied all over the contiguous United States, with what the pages
    of all basins read; observed flow from a year on."""
    copied = folder / f"many-{basins}"
    shutil.copytree(store, copied)
    with closing(sqlite3.connect(copied / "freshet.sqlite")) as database, database:
        stored = database.execute("SELECT count(*) FROM basins").fetchone()[0]
        numbers = (
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < ?) SELECT n AS copy_n FROM c"
        )
        database.execute("CREATE TEMP TABLE copies (copy_n INTEGER)")
        database.execute(f"INSERT INTO copies {numbers}", (-(-basins // stored) - 1,))
        for table in COPIED:
            database.execute(_copies_of(database, table, year))
    return copied


def _copies_of(database: sqlite3.Connection, table: str, year: int) -> str:
    """Return the statement that copies a table's rows for other basins, at other places."""
    key = "id" if table == "basins" else "basin_id"
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    columns = [name for name in columns if (table, name) != ("promotions", "id")]
    changed = {
        key: f"{key} || printf('%04d', copy_n)",
        "latitude": "25 + (latitude * 1000 + copy_n * 7919) % 2400 / 100",
        "longitude": "-123 + ((longitude + 360) * 1000 + copy_n * 104729) % 5500 / 100",
        **{name: f"CASE WHEN copy_n % {CALM_COPIES} = 0 THEN {name} END" for name in ("severity", "since")},
    }
    values = ", ".join(changed.get(name, name) for name in columns)
    where = f"length({key}) = 13 {OF_TABLE.get(table, '')}".format(year=year)
    return f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}, copies WHERE {where}"  # noqa: S608


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
