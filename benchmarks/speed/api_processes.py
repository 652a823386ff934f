"""Answers of one and of two API processes on one database, SQLite and PostgreSQL, by CPU second of the servers.

Beside them stands the bare route (`benchmarks.speed.bare_api`).
All clients are one process, which takes CPU time of its own: answers a second are then bounded by the cores, and what a
second process costs is seen in the CPU time of the servers. A round asks one process, then two, half of the connections
each; the ratios are medians over the rounds. Synthetic basins; loopback only; a fixed number of requests.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.speed.bare_api import fill, served
from benchmarks.speed.http_load import get, rate, until_up
from runtime.settings import Settings
from testing.databases import served as served_postgresql
from testing.processes import cpu_seconds
from testing.valkey import Broker

ROUNDS, REQUESTS, CONNECTIONS = 5, 1000, 16

Server = tuple[int, int]
"""Its port and its process id."""


def measure() -> dict[str, Any]:
    """Return the figures of each database."""
    with tempfile.TemporaryDirectory() as folder, served_postgresql() as postgresql:
        urls = {"sqlite": f"sqlite:///{folder}/freshet.sqlite", "postgresql": postgresql.migrated()}
        broker = Broker(Path(folder))
        broker.start()
        try:
            return {
                name: _of(Settings.load(data=Path(folder), database_url=url, broker_url=broker.url))
                for name, url in urls.items()
            }
        finally:
            broker.kill()


def _of(settings: Settings) -> dict[str, Any]:
    basin = fill(settings)[0]
    paths = {"latest": f"/v1/basins/{basin}/forecasts/latest", "bare": f"/bare/{basin}"}
    with ExitStack() as stack:
        servers = [stack.enter_context(served(settings)) for _ in range(2)]
        return asyncio.run(_measured(servers, paths, f"/store-bare/{basin}"))


async def _measured(servers: Sequence[Server], paths: dict[str, str], store_bare: str) -> dict[str, Any]:
    for port, _ in servers:
        await until_up(port, paths["latest"])
    await get(servers[0][0], store_bare)
    cases = {(name, count): (path, servers[:count]) for name, path in paths.items() for count in (1, 2)}
    rounds = [{case: await _asked(*asked) for case, asked in cases.items()} for _ in range(ROUNDS)]
    by_cpu = {case: statistics.median(each[case]["by_cpu"] for each in rounds) for case in cases}
    return {
        "answers_per_cpu_second": {f"{name}, {count}": rate for (name, count), rate in by_cpu.items()},
        "answers_per_second": {
            f"{name}, {count}": statistics.median(each[name, count]["by_second"] for each in rounds)
            for name, count in cases
        },
        "ratios": {
            **{f"latest over bare, {count}": _ratio(rounds, ("latest", count), ("bare", count)) for count in (1, 2)},
            "latest, two processes over one": _ratio(rounds, ("latest", 2), ("latest", 1)),
        },
    }


def _ratio(rounds: Sequence[dict[Any, dict[str, float]]], case: tuple[str, int], other: tuple[str, int]) -> float:
    """Return the median of the paired ratios of the answers by CPU second."""
    return statistics.median(each[case]["by_cpu"] / each[other]["by_cpu"] for each in rounds)


async def _asked(path: str, servers: Sequence[Server]) -> dict[str, float]:
    """Query this many servers at once, and return answers by CPU second of theirs, and by second."""
    each, connections = REQUESTS // len(servers), CONNECTIONS // len(servers)
    cpu, started = sum(cpu_seconds(process) for _, process in servers), time.perf_counter()
    await asyncio.gather(*(rate(port, path, each, connections) for port, _ in servers))
    seconds = time.perf_counter() - started
    taken = sum(cpu_seconds(process) for _, process in servers) - cpu
    return {"by_cpu": REQUESTS / taken, "by_second": REQUESTS / seconds}
