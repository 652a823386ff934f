"""The API over synthetic basins, with a route that does as little as can be.

`/bare/BASIN` stands in the same application, behind the same middlewares, and answers the bytes of the latest forecast
as one SELECT by primary key gives them, once `/store-bare/BASIN` has stored the last answer.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import uvicorn
from fastapi import FastAPI, Response
from fastapi import Path as InPath
from sqlalchemy import Column, LargeBinary, MetaData, String, Table, insert, select

from app.http.dependencies import Reading
from app.main import create_app
from benchmarks.speed.country import PRODUCT, SyntheticCountry
from benchmarks.speed.warm_forecast import CLOCK, prepare
from benchmarks.speed.weather_traces import T0
from jobspec.jobs.forecasting import ForecastParams
from operations.forecasting.forecast import forecast
from records.database.engine import Database
from records.runs.runs import RunRequest
from records.versions import promotions
from runtime.child_processes import spawn_context
from runtime.process import log_to_stderr
from runtime.settings import Settings
from testing.processes import free_port
from testing.work import work_of

BASINS, DAYS = 447, 10
BARE = Table("bare", MetaData(), Column("id", String, primary_key=True), Column("body", LargeBinary, nullable=False))


def fill(settings: Settings, basins: int = BASINS) -> list[str]:
    """Store a latest forecast of synthetic basins, of an untrained ensemble of 10."""
    database, country = Database(settings.database_url), SyntheticCountry(basins)
    database.migrate()
    with database.transaction() as session:
        BARE.create(session.connection())
    version = prepare(database, country, PRODUCT, T0)
    with database.transaction() as session:
        promotions.promote(session, version, country.basins(), reason="first", by="benchmark", at=CLOCK.now())
    forecast(work_of(database, CLOCK), RunRequest(ForecastParams(basins=country.basins(), horizon=DAYS, t0=T0)))
    database.close()
    return country.basins()


@contextmanager
def served(settings: Settings) -> Iterator[tuple[int, int]]:
    """Serve it from a process of its own, and give the port and the process id."""
    port = free_port()
    server = spawn_context().Process(
        target=_serve, args=(str(settings.data), settings.database_url, settings.broker_url, port), daemon=True
    )
    server.start()
    assert server.pid is not None
    try:
        yield port, server.pid
    finally:
        server.terminate()
        server.join()


def _serve(folder: str, database_url: str, broker_url: str | None, port: int) -> None:
    settings = Settings.load(
        data=Path(folder),
        database_url=database_url,
        broker_url=broker_url,
        log_level="error",
        requests_per_minute=10**9,
    )
    log_to_stderr(settings.log_level)
    app = create_app(settings)
    _add_bare(app, settings)
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error", access_log=False)


def _add_bare(app: FastAPI, settings: Settings) -> None:
    database = Database(settings.database_url)

    @app.get("/bare/{basin}")
    def bare(session: Reading, basin: Annotated[str, InPath()]) -> Response:
        body = session.execute(select(BARE.c.body).where(BARE.c.id == basin)).scalar_one()
        return Response(body, media_type="application/json")

    @app.get("/store-bare/{basin}")
    def store_bare(basin: Annotated[str, InPath()]) -> str:
        body = list(app.state.rendered._bodies.values())[-1]
        with database.transaction() as session:
            session.execute(insert(BARE).values(id=basin, body=body))
        return "stored"
