"""A running service, seen from outside: its processes, its address, its database."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx2

from runtime import child_processes
from testing.databases import PostgreSQL, copy_into, served
from testing.processes import children, free_port, part_name, runs
from testing.valkey import Broker

PATIENCE = 300.0  # seconds that it has to start: a bound for what hangs, not for what is slow
DISK = 600_000_000  # bytes
NONE: Mapping[str, str] = MappingProxyType({})


@dataclass
class Service:
    """`freshet serve` on a data folder of its own.

    Attributes:
        token: of a key.
        broker: a Valkey that is not the service's own.
        postgresql: the server of the database, where it is one.
        settings: environment variables that it is started with besides.
        harmed: the process that was killed or stopped last.
        posted: the jobs that were posted by `post`.
    """

    data: Path
    database_url: str
    token: str
    broker: Broker | None = None
    postgresql: PostgreSQL | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None
    harmed: int | None = None
    posted: list[str] = field(default_factory=list)

    @property
    def log(self) -> Path:
        """Where it logs: on another disk."""
        return self.data.with_suffix(".log")

    def start(self) -> None:
        """Start it, and return when it answers."""
        command = child_processes.python_command(
            "freshet", "serve", "--port", str(self.port), "--training-workers", "1"
        )
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(command, env=self.environment(), stdout=log, stderr=log)
        end = time.monotonic() + PATIENCE
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"The service does not start: read {self.log}.")
            time.sleep(0.1)

    def stop(self) -> None:
        """Stop it."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()

    def kill(self) -> None:
        """Kill it and all its parts."""
        assert self.process is not None
        processes = [self.process.pid, *self.parts().values()]
        for process in processes:
            send(process, signal.SIGKILL)
        self.process.wait()

    def environment(self) -> dict[str, str]:
        """Return what a process of this service is started with."""
        settings = {"FRESHET_DATA": str(self.data), "FRESHET_DATABASE_URL": self.database_url}
        settings |= {"FRESHET_REQUESTS_PER_MINUTE": "1000000", "FRESHET_WRITES_PER_MINUTE": "1000000"}
        if self.broker is not None:
            settings["FRESHET_BROKER_URL"] = self.broker.url
        return os.environ | settings | dict(self.settings)

    def part(self, name: str) -> int:
        """Return the process id of a part: `api`, `scheduler`, `worker default` and the like, or `broker`."""
        return self.parts()[name]

    def parts(self) -> dict[str, int]:
        """Return the process ids of the parts that run, by their names."""
        assert self.process is not None
        return {part_name(child): child for child in children(self.process.pid) if runs(child)}

    def client(self) -> httpx2.Client:
        """Return a client of its API."""
        return httpx2.Client(
            base_url=f"http://127.0.0.1:{self.port}",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=10,
            trust_env=False,
        )

    def post(self, kind: str, params: Mapping[str, Any]) -> str:
        """Post a job, and return its id."""
        with self.client() as client:
            answer = client.post("/v1/jobs", json={"kind": kind, "params": dict(params)})
            answer.raise_for_status()
            self.posted.append(answer.json()["id"])
        return self.posted[-1]

    def answers(self) -> bool:
        """Whether the API does."""
        with self.client() as client:
            try:
                return client.get("/health/ready").is_success
            except httpx2.TransportError:
                return False

    def is_mended(self, usual: set[str]) -> bool:
        """Whether every harmed part has been replaced, and the service reports no more degradations than usual."""
        if self.harmed is not None and runs(self.harmed):
            return False
        try:
            return self.status_codes() <= usual
        except (httpx2.TransportError, KeyError):
            return False

    def status_codes(self) -> set[str]:
        """Return the codes of the service's degradations."""
        with self.client() as client:
            return {each["code"] for each in client.get("/v1/status").json()["degraded"]}


@contextmanager
def on_sqlite(data: Path, store: tuple[Path, str], settings: Mapping[str, str] = NONE) -> Iterator[Service]:
    """Run a service on SQLite with a broker of its own, in a new folder."""
    file, token = store
    data.mkdir(exist_ok=True)
    shutil.copy(file, data / "freshet.sqlite")
    yield from _run(Service(data, f"sqlite:///{data / 'freshet.sqlite'}", token, settings=settings))


@contextmanager
def on_small_disk(data: Path, store: tuple[Path, str]) -> Iterator[Service]:
    """Run one on a small disk of its own, which it takes an administrator to make."""
    data.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", data], check=True)
    try:
        with on_sqlite(data, store) as service:
            yield service
    finally:
        subprocess.run(["umount", "--lazy", data], check=True)


@contextmanager
def on_postgresql(data: Path, store: tuple[Path, str], settings: Mapping[str, str] = NONE) -> Iterator[Service]:
    """Run a service on PostgreSQL with a broker that is not its own, in a new folder."""
    file, token = store
    data.mkdir()
    broker = Broker(data)
    broker.start()
    try:
        with served() as server:
            url = server.migrated()
            copy_into(file, url)
            yield from _run(Service(data, url, token, broker, server, settings))
    finally:
        broker.kill()


def _run(service: Service) -> Iterator[Service]:
    try:
        service.start()
        yield service
    finally:
        service.stop()


def send(process: int, how: signal.Signals) -> None:
    """Send a signal to a process."""
    os.kill(process, how)
