"""`freshet api` alone under many simultaneous clients, beside a bystander and a probe of liveness, on both databases.

Every client has an address of its own, holds one connection and asks again as soon as it is answered, whatever the
answer; a client of a job's events reads them until the round ends. The bystander reads one basin each second, the probe
`/health/live`, each on a new connection. Synthetic basins; loopback only; rate limits are out of reach, so that the
limits of what is done at once act alone. The clients are one process that shares the cores with the service.
"""

import asyncio
import os
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.speed.bare_api import BASINS, fill
from benchmarks.speed.http_load import get, until_up
from records.access import keys
from records.database.engine import Database
from runtime import child_processes
from runtime.settings import Settings
from testing.databases import copy_into
from testing.databases import served as served_postgresql
from testing.processes import cpu_seconds, free_port

CLIENTS, SECONDS = (60, 200, 1000), 30.0
SHORT_CLIENTS, SHORT_SECONDS, SHORT_BASINS = (60,), 3.0, 5
SILENCE = 40.0
"""Seconds after which a request counts as unanswered: longer than any timeout of the service."""
EVERY = 1.0
"""Seconds between two requests of the bystander."""


@dataclass
class Round:
    """What clients saw.

    Attributes:
        answers: number of answers by status; 0 stands for a connection that ended without one.
        seconds: from sending to the head of each answer of the slowest client, the bystander's or the probe's.
    """

    answers: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def shown(self) -> dict[str, Any]:
        """Return the numbers of answers and the longest wait."""
        return {"answers": dict(self.answers), "worst_seconds": max(self.seconds, default=None)}


def measure(
    basins: int | None = None, minutes: float | None = None, only: str | None = None, short: bool = False
) -> dict[str, Any]:
    """Return the figures by database, address and number of clients.

    Args:
        basins: number of them; 447 by default.
        minutes: duration of each round; half a minute by default.
        only: numbers of clients, databases or addresses, with commas between them.
        short: a few seconds over a few basins.
    """
    stored = basins or (SHORT_BASINS if short else BASINS)
    seconds = minutes * 60 if minutes else SHORT_SECONDS if short else SECONDS
    chosen = set((only or "").split(",")) - {""}
    numbers = [int(each) for each in chosen if each.isdigit()] or (SHORT_CLIENTS if short else CLIENTS)
    chosen -= {str(number) for number in numbers}
    with tempfile.TemporaryDirectory() as folder, served_postgresql() as postgresql:
        file = Path(folder) / "freshet.sqlite"
        settings = Settings.load(data=Path(folder), database_url=f"sqlite:///{file}")
        basin = fill(settings, stored)[0]
        token = _token(settings.database_url)
        urls = {"sqlite": settings.database_url, "postgresql": postgresql.migrated()}
        copy_into(file, urls["postgresql"])
        return {
            "basins": stored,
            "seconds": seconds,
            "databases": {
                name: _of(Path(folder), url, basin, token, numbers, seconds, chosen)
                for name, url in urls.items()
                if not chosen & set(urls) or name in chosen
            },
        }


def _of(
    folder: Path, url: str, basin: str, token: str, numbers: Any, seconds: float, chosen: set[str]
) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    with _api(folder, url) as (port, process):
        asyncio.run(until_up(port, "/health/live"))
        paths = {"rivers": "/", "basin": f"/basins/{basin}", "list": "/v1/basins", "events": _events(port, token)}
        for name, path in paths.items():
            if chosen & set(paths) and name not in chosen:
                continue
            if name != "events":
                asyncio.run(get(port, path))  # what is loaded and cached once
            for number in numbers:
                Path(f"/proc/{process}/clear_refs").write_text("5")  # the peak of memory begins anew
                headers = f"Authorization: Bearer {token}\r\n" if name == "events" else ""
                cpu = cpu_seconds(process)
                clients, bystander, probe = asyncio.run(_round(port, path, headers, number, seconds, basin))
                cpu = cpu_seconds(process) - cpu
                answered = sum(clients.answers.values())
                figures[f"{name}, {number}"] = {
                    "answered_per_second": round(clients.answers[200] / seconds, 1),
                    "answered_per_cpu_second": round(clients.answers[200] / cpu, 1),
                    "cpu_seconds": round(cpu, 1),
                    "share_of_503": round(clients.answers[503] / answered, 3) if answered else None,
                    "clients": clients.shown(),
                    "bystander": bystander.shown(),
                    "health_live": probe.shown(),
                    "peak_mb": _peak_mb(process),
                }
                print(name, number, figures[f"{name}, {number}"], flush=True, file=__import__("sys").stderr)
    return figures


async def _round(
    port: int, path: str, headers: str, number: int, seconds: float, basin: str
) -> tuple[Round, Round, Round]:
    until = time.monotonic() + seconds
    clients, bystander, probe = Round(), Round(), Round()
    await asyncio.gather(
        *(_client(port, path, headers, _address(each), until, clients) for each in range(number)),
        _each_second(port, f"/v1/basins/{basin}", until, bystander),
        _each_second(port, "/health/live", until, probe),
    )
    return clients, bystander, probe


async def _client(port: int, path: str, headers: str, address: str, until: float, seen: Round) -> None:
    """Ask again and again over one connection, which is opened again where it ended."""
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode()
    while time.monotonic() < until:
        await _ask(port, request, address, until, seen)


async def _each_second(port: int, path: str, until: float, seen: Round) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
    while time.monotonic() < until:
        started = time.monotonic()
        await _ask(port, request, "127.0.0.1", started, seen)
        await asyncio.sleep(max(0.0, started + EVERY - time.monotonic()))


async def _ask(port: int, request: bytes, address: str, until: float, seen: Round) -> None:
    """Send a request over a new connection, and again on it until an instant or until it ends."""
    started = time.monotonic()
    try:
        async with asyncio.timeout(SILENCE):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(address, 0))
    except OSError:
        seen.answers[0] += 1
        return
    try:
        while True:
            writer.write(request)
            async with asyncio.timeout(SILENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                seen.answers[int(head.split(b" ", 2)[1])] += 1
                seen.seconds.append(time.monotonic() - started)
                await _body(reader, head.lower(), until)
            if time.monotonic() >= until or b"connection: close" in head.lower():
                return
            started = time.monotonic()
    except (OSError, asyncio.IncompleteReadError):
        seen.answers[0] += 1
        seen.seconds.append(time.monotonic() - started)
    finally:
        writer.close()


async def _body(reader: asyncio.StreamReader, head: bytes, until: float) -> None:
    """Read the body of an answer; a stream's until an instant."""
    if b"content-length:" in head:
        await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
        return
    try:
        async with asyncio.timeout(max(0.0, until - time.monotonic())):
            while await reader.read(65536):
                pass
    except TimeoutError:
        pass


def _address(number: int) -> str:
    return f"127.0.{1 + number // 250}.{1 + number % 250}"


@contextmanager
def _api(folder: Path, url: str) -> Iterator[tuple[int, int]]:
    """Run the API, and give its port and process id."""
    port = free_port()
    settings = {"FRESHET_DATA": str(folder), "FRESHET_DATABASE_URL": url, "FRESHET_LOG_LEVEL": "error"}
    limits = {"FRESHET_REQUESTS_PER_MINUTE": "1000000000"}
    command = child_processes.python_command("freshet", "api", "--port", str(port))
    with subprocess.Popen(command, env=os.environ | settings | limits) as process:
        try:
            yield port, process.pid
        finally:
            process.terminate()


def _token(url: str) -> str:
    database = Database(url)
    with database.transaction() as session:
        _, token = keys.make(session, "measurement", "admin", None, datetime.now(UTC))
    database.close()
    return token


def _events(port: int, token: str) -> str:
    """Post a job that no worker runs, and return the address of its events."""
    request = {"kind": "forecast", "params": {}}
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.post(f"http://127.0.0.1:{port}/v1/jobs", json=request, headers=headers, trust_env=False, timeout=60)
    return f"/v1/jobs/{answer.raise_for_status().json()['id']}/events"


def _peak_mb(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text()
    return round(int(status.split("VmHWM:")[1].split()[0]) / 1024, 1)
