"""The API as a process of its own, without broker and workers."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import httpx2

from runtime.child_processes import Process
from testing.filled_store import FILLED_UNTIL
from testing.parts.forked_parts import ForkedPart
from testing.processes import free_port

PATIENCE = 300.0  # seconds
NO_BROKER = "redis://127.0.0.1:1/0"
"""Nobody listens there: jobs stay queued."""


@contextmanager
def served(database_url: str, folder: Path, as_of: datetime = FILLED_UNTIL) -> Iterator[tuple[str, int]]:
    """Serve a database; give the API's address and process."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    environment = os.environ | {
        "FRESHET_DATA": str(folder / "data"),
        "FRESHET_ARCHIVE": str(folder / "archive"),
        "FRESHET_DATABASE_URL": database_url,
        "FRESHET_BROKER_URL": NO_BROKER,
        "FRESHET_AS_OF": as_of.isoformat(),
        "FRESHET_LOG_LEVEL": "error",
        "FRESHET_REQUESTS_PER_MINUTE": "1000000",
        "FRESHET_WRITES_PER_MINUTE": "1000000",
        "FRESHET_FAILED_KEYS_PER_MINUTE": "1000000",
    }
    log = folder / "api.log"
    process = ForkedPart("freshet", ["api", "--port", str(port)], environment=environment, log=log, folder=folder)
    try:
        await_ready(address, process, log)
        yield address, process.pid
    finally:
        process.kill()
        process.wait()


def await_ready(address: str, process: Process | ForkedPart, log: Path) -> None:
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
