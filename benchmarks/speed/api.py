"""Requests a second of the API's hot answers, one server process, beside a route that does as little as can be
(`benchmarks.speed.bare_api`).

The rounds of all routes are taken in turn, and the ratio is the median of the paired ratios. Synthetic basins; loopback
only; a fixed number of requests.
"""

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.speed.bare_api import BASINS, fill, served
from benchmarks.speed.http_load import get, rate, until_up
from runtime import child_processes
from runtime.settings import Settings
from testing.processes import cpu_seconds, free_port

ROUNDS, REQUESTS, CONNECTIONS = 5, 400, (1, 16)
MANY, MANY_REQUESTS = 50, 20


def measure() -> dict[str, Any]:
    """Return requests a second by route and number of connections, and the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.load(data=Path(folder), database_url=f"sqlite:///{folder}/freshet.sqlite")
        ids = fill(settings)
        first = _first_answer(settings, f"/v1/basins/{ids[0]}/forecasts/latest")
        with served(settings) as (port, _):
            return {"first_answer": first, **asyncio.run(_measure(port, ids))}


async def _measure(port: int, ids: list[str]) -> dict[str, Any]:
    latest = f"/v1/basins/{ids[0]}/forecasts/latest"
    body = await until_up(port, latest)
    await get(port, f"/store-bare/{ids[0]}")
    paths = {"latest": latest, "bare": f"/bare/{ids[0]}"}
    rates: dict[str, dict[str, list[float]]] = {}
    for connections in CONNECTIONS:
        found: dict[str, list[float]] = {name: [] for name in paths}
        for _ in range(ROUNDS):
            for name, path in paths.items():
                found[name].append(await rate(port, path, REQUESTS, connections))
        rates[str(connections)] = found
    fifty, every = ("/v1/forecasts?basins=" + ",".join(asked) for asked in (ids[:MANY], ids))
    start = time.perf_counter()
    await get(port, every)
    first_of_all = time.perf_counter() - start
    paired = {
        n: [one / bare for one, bare in zip(found["latest"], found["bare"], strict=True)] for n, found in rates.items()
    }
    return {
        "answer_bytes": len(body),
        "requests_per_second": {
            n: {name: statistics.median(values) for name, values in found.items()} for n, found in rates.items()
        },
        "fifty_basins_per_second": {str(n): await rate(port, fifty, MANY_REQUESTS, n) for n in CONNECTIONS},
        "all_basins": BASINS,
        "all_basins_seconds": {"first": first_of_all, "again": 1 / await rate(port, every, MANY_REQUESTS, 1)},
        "ratios": {
            "latest_over_bare": statistics.median(paired["1"]),
            "latest_over_bare_16": statistics.median(paired["16"]),
        },
        "spread": {n: [min(values), max(values)] for n, values in paired.items()},
    }


def _first_answer(settings: Settings, path: str) -> dict[str, Any]:
    """Return the CPU seconds that a fresh `freshet api` has taken when its first answer is there, and what it loads."""
    port = free_port()
    environment = os.environ | {"FRESHET_DATA": str(settings.data), "FRESHET_DATABASE_URL": settings.database_url}
    command = child_processes.python_command("freshet", "api", "--port", str(port))
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            asyncio.run(until_up(port, path))
            taken = cpu_seconds(server.pid)
            libraries = Path(f"/proc/{server.pid}/maps").read_text()
        finally:
            server.terminate()
    return {
        "cpu_seconds": taken,
        "loads_torch": "libtorch" in libraries,
        "loads_netcdf": "netcdf" in libraries.lower(),
    }
