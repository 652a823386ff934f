"""The application: one database, one clock, the routers."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any

import anyio
from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi_offline import FastAPIOffline
from starlette.middleware.cors import CORSMiddleware

from app import openapi, problems
from app.alerts.endpoints import router as alerts
from app.audit.endpoints import router as audit
from app.basins.endpoints import router as basins
from app.bridges.endpoints import router as bridges
from app.comparisons.endpoints import router as comparisons
from app.compression import Compressed
from app.cross_origin import cross_origin
from app.deliveries.endpoints import router as deliveries
from app.dependencies import refuse_unknown_parameters
from app.drain_down.endpoints import router as drain_down
from app.edr.endpoints import router as edr
from app.exceedance.endpoints import router as exceedance
from app.exports.vary import VaryByFormat
from app.feeds.endpoints import router as feeds
from app.forecasts.endpoints import router as forecasts
from app.guide.endpoints import router as guide
from app.headers import SecurityHeaders
from app.heads import Heads
from app.health.endpoints import router as health
from app.health.hindered import Hindered
from app.hosts import TrustedHosts
from app.jobs.endpoints import router as jobs
from app.limits import BodyLimit, Private
from app.liveness import give_signs
from app.metrics.endpoints import router as metrics
from app.metrics.requests import RequestTimes, Timed
from app.models.endpoints import router as models
from app.normals.endpoints import router as normals
from app.observations.endpoints import router as observations
from app.pages import static_files
from app.pages.router import router as pages
from app.problem_pages import router as problem_pages
from app.rates import Rates
from app.rendered import Rendered
from app.request_ids import RequestIds
from app.runs.endpoints import router as runs
from app.schedules.endpoints import router as schedules
from app.security import any_key
from app.skill.endpoints import router as skill
from app.spread.endpoints import router as spread
from app.status.endpoints import router as status
from app.subscriptions.endpoints import router as subscriptions
from app.thresholds.endpoints import router as thresholds
from app.throttle import Throttle
from app.user_basins.endpoints import router as user_basins
from app.verification.endpoints import router as verification
from app.volumes.endpoints import router as volumes
from app.water.endpoints import router as water
from app.weather.endpoints import router as weather
from app.what_if.endpoints import router as what_if
from records.clock import Clock
from records.engine import Database
from records.settings import Settings
from workers.enqueue import Sender


def create_app(settings: Settings, host: str | None = None) -> FastAPI:
    """Return the service. It opens its database when it starts and closes it when it stops.

    Args:
        settings: the operator's.
        host: the name or address that it listens on, to which it answers besides those of the settings.

    Starting raises DatabaseProblem where the database cannot be reached or is not migrated.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        database, clock = Database(settings.database_url), Clock(settings.as_of)
        sender = Sender(settings, database, clock)
        try:
            database.require_migrated()
            app.state.settings, app.state.database, app.state.clock, app.state.sender = (
                settings,
                database,
                clock,
                sender,
            )
            app.state.rendered, app.state.rates, app.state.hindered = Rendered(), Rates(settings), Hindered()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(give_signs)
                yield
                tasks.cancel_scope.cancel()
            await app.state.rates.close()
        finally:
            sender.close()
            database.close()

    app = FastAPIOffline(
        title=openapi.TITLE,
        description=openapi.DESCRIPTION,
        version=metadata.version("freshet"),
        openapi_tags=openapi.TAGS,
        redoc_url=None,
        generate_unique_id_function=_operation_id,
        redirect_slashes=False,  # such a redirection would repeat the Host header
        lifespan=lifespan,
    )
    app.openapi = openapi.with_problems(app)  # type: ignore[method-assign]
    openapi.serve(app)
    problems.handle(app)
    build = app.build_middleware_stack
    # Outside of what answers unexpected errors, which no other middleware is.
    app.state.times = RequestTimes()
    app.build_middleware_stack = lambda: Timed(  # type: ignore[method-assign]
        RequestIds(Heads(Compressed(SecurityHeaders(build())))), app.state.times
    )
    app.add_middleware(VaryByFormat)
    app.add_middleware(BodyLimit)
    strict = APIRouter(dependencies=[Depends(refuse_unknown_parameters)])
    closed: dict[str, Any] = {}
    if settings.read_needs_key:
        app.add_middleware(Private)
        closed = {"dependencies": [Depends(any_key)], "responses": problems.documented(problems.Unauthorized)}
    app.add_middleware(Throttle)
    if settings.cors_origins:
        app.add_middleware(CORSMiddleware, **cross_origin(settings.cors_origins))
    app.add_middleware(TrustedHosts, allowed=[*settings.allowed_hosts, *([host] if host else [])])
    for router in (
        *(forecasts, basins, user_basins, observations, normals, thresholds, weather, exceedance, alerts, volumes),
        *(
            runs,
            what_if,
            water,
            spread,
            drain_down,
            skill,
            verification,
            comparisons,
            models,
            bridges,
            jobs,
            feeds,
            schedules,
            subscriptions,
            deliveries,
        ),
        *(edr, status, audit),
    ):
        strict.include_router(router, prefix="/v1", **closed)
    strict.include_router(health)
    strict.include_router(metrics)
    strict.include_router(pages, **closed)
    strict.include_router(problem_pages)
    strict.include_router(guide)
    app.include_router(strict)
    app.mount(static_files.PATH, static_files.files())
    return app


def _operation_id(route: APIRoute) -> str:
    return route.name
