"""The API as a process of its own, over the small country with its version, a run, scores and jobs that have ended."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from tests.e2e.filled_store import FILLED_UNTIL, FilledStore, fill, work
from tests.operations.conftest import country, trained_file
from tests.workers.conftest import copy_rows

__all__ = ["country", "trained_file"]

PATIENCE = 60.0  # seconds
NO_BROKER = "redis://127.0.0.1:1/0"
"""Nobody listens there: jobs stay queued."""


@dataclass(frozen=True, slots=True)
class Api:
    """A running API: its address, its process, what it holds."""

    address: str
    process: int
    stored: FilledStore


@pytest.fixture(scope="session")
def worked_file(trained_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The country's SQLite file with a forecast run, an evaluation and a comparison, to be copied."""
    file = Path(shutil.copy(trained_file, tmp_path_factory.mktemp("worked") / "freshet.sqlite"))
    work(file)
    return file


@pytest.fixture
def api(database_url: str, worked_file: Path, tmp_path: Path) -> Iterator[Api]:
    """The API on either database."""
    if database_url.startswith("sqlite"):
        shutil.copy(worked_file, database_url.removeprefix("sqlite:///"))
    else:
        copy_rows(worked_file, database_url)
    with _started(database_url, tmp_path) as running:
        yield running


@pytest.fixture
def sqlite_api(worked_file: Path, tmp_path: Path) -> Iterator[Api]:
    """The API on SQLite, for what does not depend on the database."""
    file = shutil.copy(worked_file, tmp_path / "freshet.sqlite")
    with _started(f"sqlite:///{file}", tmp_path) as running:
        yield running


@pytest.fixture(scope="session")
def reading_api(worked_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """The API on SQLite for tests that only read, started once."""
    folder = tmp_path_factory.mktemp("reading")
    file = shutil.copy(worked_file, folder / "freshet.sqlite")
    with _started(f"sqlite:///{file}", folder) as running:
        yield running


@contextmanager
def _started(database_url: str, folder: Path) -> Iterator[Api]:
    stored = fill(database_url)
    with served(database_url, folder) as (address, process):
        yield Api(address, process, stored)


@contextmanager
def served(database_url: str, folder: Path) -> Iterator[tuple[str, int]]:
    """Serve a database; give the API's address and process."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {
        "FRESHET_DATA": str(folder / "data"),
        "FRESHET_DATABASE_URL": database_url,
        "FRESHET_BROKER_URL": NO_BROKER,
        "FRESHET_AS_OF": FILLED_UNTIL.isoformat(),
        "FRESHET_LOG_LEVEL": "error",
        "FRESHET_REQUESTS_PER_MINUTE": "1000000",
        "FRESHET_WRITES_PER_MINUTE": "1000000",
        "FRESHET_FAILED_KEYS_PER_MINUTE": "1000000",
    }
    command = [sys.executable, "-m", "freshet", "api", "--port", str(port)]
    with (folder / "api.log").open("wb") as log, subprocess.Popen(command, env=environment, stderr=log) as process:
        try:
            await_ready(address, process, folder / "api.log")
            yield address, process.pid
        finally:
            process.kill()


def free_port() -> int:
    """Return a port of the loopback address that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
        return number


def await_ready(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Return when the service can answer."""
    end = time.monotonic() + PATIENCE
    while True:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < end, f"the service does not answer\n{log.read_text()}"
        try:
            if httpx2.get(f"{address}/health/ready", trust_env=False).status_code == 200:
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.1)
