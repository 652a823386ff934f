"""Stores to view the pages of, filled by the command line, and the API over one of them."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from sqlalchemy import create_engine, inspect, text

from benchmarks.regional import data
from freshet.demo.demonstration import AS_OF
from records.database.connections import parsed_url
from runtime import child_processes
from testing.processes import free_port

PATIENCE = 90.0  # seconds
ENSEMBLE = "mclstm-maurer-447"
HORIZON = 10
MELTING = datetime.fromisoformat("1981-05-14T18:00:00+00:00")
"""The clock over CAMELS-US: snow is melting, and 16 months of weather before it are enough for a forecast."""


@contextmanager
def served(
    store: Path, as_of: datetime, command: str = "api", database_url: str | None = None
) -> Iterator[tuple[str, int]]:
    """Serve a store by `freshet api`, or `serve`; give its address and the process that serves it.

    `database_url`: of PostgreSQL; None: the store's own database.
    """
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    arguments = child_processes.python_command("freshet", command, "--port", str(port))
    environment = _environment(store, as_of) | ({} if database_url is None else {"FRESHET_DATABASE_URL": database_url})
    with subprocess.Popen(arguments, env=environment, stderr=subprocess.DEVNULL) as server:
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
    **dict.fromkeys(
        ("run_basins", "outlooks"),
        "AND (t.run_id, t.basin_id) IN (SELECT run_id, basin_id FROM newest_runs)",
    ),
    "series": "AND variable = 'discharge' AND year >= {year}",
}
"""The part of a table that is copied, where not all."""
OF_FORECASTS = ("promotions", "run_basins", "newest_runs", "outlooks")
WITHOUT_FORECAST, ALARMED = 41, 3
"""One copy in this number has no forecast; one in this has the alerts of its basin."""
STATES = ("WA", "OR", "CA", "ID", "MT", "NV", "UT", "AZ", "CO", "NM", "WY", "TX", "MN", "MO", "OH", "GA", "PA", "NY")


def many(store: Path, folder: Path, basins: int, year: int) -> Path:
    """Make a store of many basins like another, on SQLite: see `fill`."""
    copied = folder / f"many-{basins}"
    shutil.copytree(store, copied)
    fill(f"sqlite:///{copied / 'freshet.sqlite'}", basins, year)
    return copied


def fill(database_url: str, basins: int, year: int) -> None:
    """Copy the basins of a database until there are many, all over the contiguous United States, with what the pages of
    all basins read; observed flow from a year on."""
    engine = create_engine(parsed_url(database_url))
    with engine.begin() as database:
        stored = database.execute(text("SELECT id, name, latitude, longitude FROM basins ORDER BY id")).all()
        database.execute(
            text(
                "CREATE TEMPORARY TABLE copies (copied TEXT, copy_n INTEGER, id TEXT PRIMARY KEY, name TEXT, "
                "latitude DOUBLE PRECISION, longitude DOUBLE PRECISION, huc TEXT)"
            )
        )
        numbers = range(1, -(-basins // len(stored)))
        copies = [_copy(id_, name, y, x, copy_n) for copy_n in numbers for id_, name, y, x in stored]
        names = ", ".join(f":{name}" for name in copies[0])
        database.execute(text(f"INSERT INTO copies VALUES ({names})"), copies)  # noqa: S608
        database.execute(text("CREATE INDEX copied ON copies (copied)"))
        database.execute(text("ANALYZE copies"))
        for table in COPIED:
            columns = [column["name"] for column in inspect(engine).get_columns(table)]
            database.execute(text(_copies_of(table, columns, year)))
        database.execute(text("ANALYZE"))
    engine.dispose()


def _copy(basin: str, name: str | None, latitude: float, longitude: float, copy_n: int) -> dict[str, Any]:
    """Return a basin like another, of another name at another place."""
    place, _, _ = (name or basin).rpartition(",")
    return {
        "copied": basin,
        "copy_n": copy_n,
        "id": f"{basin}{copy_n:04}",
        "name": f"{place or name} {copy_n}, {STATES[(copy_n + int(basin[-4:])) % len(STATES)]}",
        "latitude": 25 + (latitude * 1000 + copy_n * 7919) % 2400 / 100,
        "longitude": -123 + ((longitude + 360) * 1000 + copy_n * 104729) % 5500 / 100,
        "huc": f"{1 + copy_n % 18:02}{copy_n % 24:02}{copy_n % 10_000:04}",
    }


def _copies_of(table: str, columns: Sequence[str], year: int) -> str:
    """Return the statement that copies a table's rows."""
    key = "id" if table == "basins" else "basin_id"
    columns = [name for name in columns if (table, name) != ("promotions", "id")]
    changed = {key: "c.id"}
    if table == "basins":
        changed |= {name: f"c.{name}" for name in ("name", "latitude", "longitude", "huc")}
    if table == "alerts":
        changed |= {name: f"CASE WHEN copy_n % {ALARMED} = 0 THEN {name} END" for name in ("severity", "since")}
    values = ", ".join(changed.get(name, f"t.{name}") for name in columns)
    where = f"copy_n % {WITHOUT_FORECAST} <> 0" if table in OF_FORECASTS else "TRUE"
    rest = OF_TABLE.get(table, "").format(year=year)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) "  # noqa: S608
        f"SELECT {values} FROM {table} t CROSS JOIN copies c WHERE t.{key} = c.copied AND {where} {rest}"
    )


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
