"""A store on PostgreSQL that has grown for many days: a backup and a check of one day more, and the prune of a month.

The first issue day is stored by the functions of the service, like real calibrated forecasts of 10 members x 31 traces
x 10 days. The rows of the others are copies of its rows under the names and days of their own, with digests renewed:
what is stored, and how long it takes to read, check, copy and delete, are those of real ones, in minutes.

Backups follow one another: the first month's, each later month's, that of the days that are left, and last, as the
check of what has changed, that of one day. The prune is that of a month at once, which nobody had applied before: daily
it is a thirtieth of it. Meanwhile another connection reads the newest states and results of some basins all the time:
`longest_read_seconds` is the slowest of these readings, and `longest_read_before_seconds` that without a prune. The
measurement fails if one of them waits for a lock. Wall-clock seconds, with the CPU seconds of the thread that works.
"""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from sqlalchemy import Table, func, select, text

from benchmarks.speed.warm_forecast import CLOCK
from benchmarks.years.store import BY, Standing, Store, opened
from hydrology.base.digests import owned_digest, sha256
from operations.upkeep.prune import prune
from records.database.checksums import new_id, with_checksum
from records.database.engine import Database
from records.outlooks.flow_outlooks import OUTLOOKS
from records.runs import runs, states
from records.runs.run_arrays import owner_of, owner_of_members
from records.runs.run_types import RUN_BASINS, RUNS
from records.runs.tables import NEWEST_RUNS, RUN_CONTENTS, RUN_MEMBERS, STATES
from records.upkeep.backup import copy_rows, make
from records.upkeep.integrity import check
from records.weather import weather_issues
from records.weather.weather_issues import ISSUES, PARTS
from runtime.settings import Settings
from testing.databases import served
from testing.work import work_of

BASINS, DAYS, MONTH = 200, 45, 30
READ_BASINS, PAUSE = 20, 0.01  # seconds between two readings
_TABLES = (RUNS, RUN_BASINS, RUN_CONTENTS, RUN_MEMBERS, OUTLOOKS, ISSUES, PARTS, STATES)
Row = dict[str, Any]


def measure(basins: int = BASINS, days: int = DAYS) -> dict[str, Any]:
    """Return seconds and megabytes."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name, served() as server:
        folder = Path(name)
        store, first = opened(folder / "store", basins), CLOCK.now() + timedelta(days=2 - days)  # after the patterns
        store.issue_day(first, store.names)
        database = Database(server.new())
        database.migrate()
        copy_rows(store.database, database)
        store = replace(store, database=database)
        result = _grown(store, folder, first, days)
        database.close()
    return {"shape": f"{days} issue days of {basins} basins", **result}


def _grown(store: Store, folder: Path, first: datetime, days: int) -> dict[str, Any]:
    database, newest = store.database, first + timedelta(days=days)
    settings = Settings.load(data=folder, database_url=database.url)
    backups: list[Path] = []

    def back_up(number: int) -> dict[str, float]:
        backups.append(folder / f"day-{number}")
        after = backups[-2] if len(backups) > 1 else None
        return _timed(lambda: make(settings, database, CLOCK, backups[-1], _silent, after))

    rows, taken = _rows_of_day(database, first), []
    for number in range(1, days):
        _store_day(database, rows, first + timedelta(days=number), number)
        if number % MONTH == 0:
            taken.append(back_up(number))
    with database.transaction() as session:
        session.connection().exec_driver_sql("ANALYZE")
    result: dict[str, Any] = {"rows": _counts(database), "database_mb": _megabytes(database), "backups": taken}
    result["backup_of_rest"] = back_up(days - 1)
    result["check"] = _timed(lambda: check(database, CLOCK.wall()).require())
    _store_day(database, rows, newest, days)
    result["backup_of_day"] = back_up(days)
    result["check_of_day"] = _timed(lambda: check(database, CLOCK.wall(), only_changed=True).require())
    result["backup_mb"] = [round(file.stat().st_size / 1e6, 1) for file in backups]
    with _Reader(store) as reader:
        time.sleep(5)
        result["longest_read_before_seconds"] = reader.longest()
        at = Standing(at=first + timedelta(days=MONTH + settings.retain_members_days))
        ends: dict[str, float] = {}
        work = work_of(
            database, at, settings, progress=lambda _done, _total, rule: ends.update({rule: time.monotonic()})
        )
        started = time.monotonic()
        result["prune"] = _timed(lambda: prune(work, BY))
        result["prune_rule_ended_after_seconds"] = {rule: round(end - started, 1) for rule, end in ends.items()}
        result["longest_read_seconds"] = reader.longest()
    result["rows_after"] = _counts(database)
    return result


def _timed(work: Callable[[], object]) -> dict[str, float]:
    wall, cpu = time.monotonic(), time.thread_time()
    work()
    return {"seconds": round(time.monotonic() - wall, 1), "cpu_seconds": round(time.thread_time() - cpu, 1)}


def _silent(_done: int, _total: int) -> None:
    pass


def _counts(database: Database) -> dict[str, int]:
    with database.reading() as session:
        return {table.name: session.scalar(select(func.count()).select_from(table)) or 0 for table in _TABLES}


def _megabytes(database: Database) -> int:
    with database.reading() as session:
        return round((session.scalar(select(func.pg_database_size(func.current_database()))) or 0) / 1e6)


@dataclass(frozen=True, slots=True)
class _Day:
    """The rows of an issue day, by table, its run and its weather forecast."""

    rows: Mapping[Table, list[Row]]
    run: str
    issue: str


def _rows_of_day(database: Database, at: datetime) -> _Day:
    with database.reading() as session:
        run = session.scalars(select(RUNS.c.id).where(RUNS.c.issued_at == at)).one()
        issue = session.scalars(select(ISSUES.c.id).where(ISSUES.c.created_at == at)).one()
        t0 = runs.get(session, run).t0
        conditions = {
            RUNS: RUNS.c.id == run,
            **{table: table.c.run_id == run for table in (RUN_BASINS, RUN_CONTENTS, RUN_MEMBERS, OUTLOOKS)},
            ISSUES: ISSUES.c.id == issue,
            PARTS: PARTS.c.issue_id == issue,
            STATES: STATES.c.day == t0,
        }
        rows = {
            table: [dict(row) for row in session.execute(select(table).where(condition)).mappings()]
            for table, condition in conditions.items()
        }
    return _Day(rows, run, issue)


def _store_day(database: Database, day: _Day, at: datetime, later: int) -> None:
    """Store the same rows as those of another day, some days later."""
    run, issue, days = new_id(at), new_id(at), np.timedelta64(later, "D")
    with database.transaction() as session:
        for table in _TABLES:
            rows = [*_later(table, day.rows[table], run, issue, at, days)]
            session.execute(table.insert(), rows)
        newest = NEWEST_RUNS.update().where(NEWEST_RUNS.c.basin_id.in_([row["basin_id"] for row in day.rows[STATES]]))
        session.execute(newest.values(run_id=run, issued_at=at, available_at=at))


def _later(table: Table, rows: list[Row], run: str, issue: str, at: datetime, days: np.timedelta64) -> Iterator[Row]:
    for row in rows:
        moved: Row = {name: value + days if isinstance(value, np.datetime64) else value for name, value in row.items()}
        moved |= {name: value for name, value in (("run_id", run), ("issue_id", issue)) if name in row}
        moved |= {name: at for name in ("created_at", "issued_at", "available_at", "available_time") if name in row}
        if table in (RUNS, ISSUES):
            moved["id"] = run if table is RUNS else issue
        if table is ISSUES:
            moved["reference_time"] = at.replace(hour=0, minute=0, second=0, microsecond=0)
        if table in (RUN_CONTENTS, RUN_MEMBERS):
            owner = (owner_of if table is RUN_CONTENTS else owner_of_members)(run, row["basin_id"])
            moved["content"] = owned_digest(owner, row["content"][8:], 8) + row["content"][8:]
        if table is PARTS:
            moved["sha256"] = sha256(weather_issues.content_to_hash(SimpleNamespace(**moved)))
        yield with_checksum(table, moved)


class _Reader:
    """Reads the newest states and results of some basins all the time, and notes how long each reading takes.

    It fails if it has to wait for a lock.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._ended, self._seconds = store, threading.Event(), [0.0]
        self._pool = ThreadPoolExecutor(max_workers=1)

    def __enter__(self) -> "_Reader":
        self._reading = self._pool.submit(self._read)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._reading.result()  # raises what it raised

    def longest(self) -> float:
        """Return the seconds of the longest reading since the last question."""
        seconds, self._seconds = self._seconds, [0.0]
        return round(max(seconds), 3)

    def _read(self) -> None:
        names, until = self._store.names[:READ_BASINS], np.datetime64(CLOCK.now().date(), "D")
        while not self._ended.is_set():
            started = time.monotonic()
            with self._store.database.reading() as session:
                session.execute(text("SET LOCAL lock_timeout = '10ms'"))
                states.newest_valid_many(session, self._store.version, names, until)
                newest = runs.list_runs(session, limit=1)[0].id
                runs.series_of_many(session, [(newest, name) for name in names], ["discharge_quantiles"])
            self._seconds.append(time.monotonic() - started)
            self._ended.wait(PAUSE)
