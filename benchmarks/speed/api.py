"""Requests a second of the API's hot answers, one server process, beside a route that does as little as can be.

`bare` stands in the same application, behind the same middlewares, and answers the bytes of the latest forecast as
one SELECT by primary key gives them. The rounds of all routes are taken in turn, and the ratio is the median of the
paired ratios. Synthetic basins; loopback only; a fixed number of requests.
"""

import asyncio
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Response
from fastapi import Path as InPath
from sqlalchemy import text

from app.dependencies import Reading
from app.main import create_app
from benchmarks.processes import cpu_seconds, free_port
from benchmarks.speed.country import PRODUCT, SyntheticCountry
from benchmarks.speed.warm_forecast import CLOCK, prepare
from benchmarks.speed.weather_traces import T0
from jobspec.kinds import ForecastParams
from operations.forecast import forecast
from records import promotions
from records.engine import Database
from records.settings import Settings

BASINS, DAYS = 447, 10
ROUNDS, REQUESTS, CONNECTIONS = 5, 400, (1, 16)
MANY, MANY_REQUESTS = 50, 20


def measure() -> dict[str, Any]:
    """Return requests a second by route and number of connections, and the ratios."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.load(data=Path(folder), database_url=f"sqlite:///{folder}/freshet.sqlite")
        ids = _prepare(settings)
        first = _first_answer(settings, f"/v1/basins/{ids[0]}/forecasts/latest")
        port = free_port()
        server = multiprocessing.get_context("spawn").Process(
            target=_serve, args=(str(settings.data), port), daemon=True
        )
        server.start()
        try:
            return {"first_answer": first, **asyncio.run(_measure(port, ids))}
        finally:
            server.terminate()
            server.join()


async def _measure(port: int, ids: list[str]) -> dict[str, Any]:
    latest = f"/v1/basins/{ids[0]}/forecasts/latest"
    body = await _until_up(port, latest)
    await _get(port, f"/keep-bare/{ids[0]}")
    paths = {"latest": latest, "bare": f"/bare/{ids[0]}"}
    rates: dict[str, dict[str, list[float]]] = {}
    for connections in CONNECTIONS:
        found: dict[str, list[float]] = {name: [] for name in paths}
        for _ in range(ROUNDS):
            for name, path in paths.items():
                found[name].append(await _rate(port, path, REQUESTS, connections))
        rates[str(connections)] = found
    fifty, every = ("/v1/forecasts?basins=" + ",".join(asked) for asked in (ids[:MANY], ids))
    start = time.perf_counter()
    await _get(port, every)
    first_of_all = time.perf_counter() - start
    paired = {
        n: [one / bare for one, bare in zip(found["latest"], found["bare"], strict=True)] for n, found in rates.items()
    }
    return {
        "answer_bytes": len(body),
        "requests_per_second": {
            n: {name: statistics.median(values) for name, values in found.items()} for n, found in rates.items()
        },
        "fifty_basins_per_second": {str(n): await _rate(port, fifty, MANY_REQUESTS, n) for n in CONNECTIONS},
        "all_basins": BASINS,
        "all_basins_seconds": {"first": first_of_all, "again": 1 / await _rate(port, every, MANY_REQUESTS, 1)},
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
    command = [sys.executable, "-m", "freshet", "api", "--port", str(port)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as server:
        try:
            asyncio.run(_until_up(port, path))
            taken = cpu_seconds(server.pid)
            libraries = Path(f"/proc/{server.pid}/maps").read_text()
        finally:
            server.terminate()
    return {
        "cpu_seconds": taken,
        "loads_torch": "libtorch" in libraries,
        "loads_netcdf": "netcdf" in libraries.lower(),
    }


def _prepare(settings: Settings) -> list[str]:
    """Keep a latest forecast of synthetic basins, of an untrained ensemble of 10."""
    database, country = Database(settings.database_url), SyntheticCountry(BASINS)
    database.migrate()
    version = prepare(database, country, PRODUCT, T0)
    with database.transaction() as session:
        promotions.promote(session, version, country.basins(), reason="first", by="benchmark", at=CLOCK.now())
    forecast(database, CLOCK, ForecastParams(basins=country.basins(), horizon=DAYS, t0=T0))
    database.close()
    return country.basins()


def _serve(folder: str, port: int) -> None:
    settings = Settings.load(
        data=Path(folder),
        database_url=f"sqlite:///{folder}/freshet.sqlite",
        log_level="error",
        requests_per_minute=10**9,
    )
    app = create_app(settings)
    _add_bare(app, settings)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


def _add_bare(app: FastAPI, settings: Settings) -> None:
    database = Database(settings.database_url)
    with database.transaction() as session:
        session.execute(text("CREATE TABLE bare (id TEXT PRIMARY KEY, body BLOB NOT NULL)"))

    @app.get("/bare/{basin}")
    def bare(session: Reading, basin: Annotated[str, InPath()]) -> Response:
        body = session.execute(text("SELECT body FROM bare WHERE id = :id"), {"id": basin}).scalar_one()
        return Response(body, media_type="application/json")

    @app.get("/keep-bare/{basin}")
    def keep(basin: Annotated[str, InPath()]) -> str:
        rendered = app.state.rendered
        body = list(rendered._bodies.values())[-1]
        with database.transaction() as session:
            session.execute(text("INSERT INTO bare VALUES (:id, :body)"), {"id": basin, "body": body})
        return "kept"


async def _until_up(port: int, path: str) -> bytes:
    for _ in range(300):
        try:
            return await _get(port, path)
        except OSError:
            await asyncio.sleep(0.1)
    raise SystemExit("The server does not come up.")


async def _rate(port: int, path: str, requests: int, connections: int) -> float:
    each = requests // connections
    start = time.perf_counter()
    await asyncio.gather(*(_many(port, path, each) for _ in range(connections)))
    return each * connections / (time.perf_counter() - start)


async def _get(port: int, path: str) -> bytes:
    return await _many(port, path, 1)


async def _many(port: int, path: str, count: int) -> bytes:
    """Ask the same again over one connection, and return the last answer's body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    body = b""
    for _ in range(count):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise SystemExit(f"{path} was answered with {head.splitlines()[0]!r}")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
    writer.close()
    await writer.wait_closed()
    return body
