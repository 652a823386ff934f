"""Builds the application: database, clock, middleware and routes."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.cors import CORSMiddleware

from app import openapi
from app.exports.answers import VaryByRequest
from app.http import error_answers
from app.http.conditional import ResponseCache
from app.http.limits.admission import AdmissionControl, Places
from app.http.limits.body_limit import BodyLimit, PrivateCacheMiddleware
from app.http.limits.costs import Throttle
from app.http.limits.rate_limits import RequestLimiter
from app.http.limits.single_headers import SingleHeaders
from app.http.middleware import Compressed, HeadMiddleware, RequestIds, SecurityHeaders, TrailingSlash
from app.http.server import TrustedHosts, cross_origin
from app.jobs.endpoints import EventStreams
from app.outlooks.today import AllBasins
from app.routes import add_routes, operation_id
from app.service.health import Hindered
from app.service.metrics import RequestTimes, Timed
from records.database.engine import Database
from runtime import watchdog
from runtime.clock import Clock
from runtime.release import code_version
from runtime.settings import Settings
from workers.queue.enqueue import Sender


def create_app(settings: Settings, host: str | None = None) -> FastAPI:
    """Create the application; its database is open from start to stop.

    Args:
        host: the name or address that it listens on, to which it answers besides those of the settings.

    Starting raises DatabaseProblem where the database cannot be reached or is not migrated.
    """
    app = FastAPIOffline(
        title=openapi.TITLE,
        description=openapi.DESCRIPTION,
        version=code_version(),
        openapi_tags=[{"name": name, "description": text} for name, text in openapi.TAGS.items()],
        docs_url=None,  # its own page, `openapi.serve`
        redoc_url=None,
        generate_unique_id_function=operation_id,
        redirect_slashes=False,  # such a redirection would repeat the Host header
        lifespan=_lifespan(settings),
    )
    app.openapi = openapi.with_problems(app)  # type: ignore[method-assign]
    openapi.serve(app)
    error_answers.handle(app)
    _add_middleware(app, settings, host)
    add_routes(app, settings)
    return app


def _lifespan(settings: Settings) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        database, clock = Database.of(settings, settings.requests_at_once), Clock(settings.as_of)
        sender = Sender(settings, database, clock)
        try:
            database.require_migrated()
            app.state.settings, app.state.database = settings, database
            app.state.clock, app.state.sender, app.state.all_basins = clock, sender, AllBasins(database)
            app.state.rendered, app.state.hindered = ResponseCache(), Hindered()
            app.state.rates = RequestLimiter(settings)
            app.state.costly_places = Places.costly(settings.requests_at_once)
            app.state.places, app.state.event_streams = Places(settings.requests_at_once), EventStreams(database)
            anyio.to_thread.current_default_thread_limiter().total_tokens = settings.requests_at_once
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(watchdog.give_from_event_loop)
                yield
                tasks.cancel_scope.cancel()
            await app.state.rates.close()
        finally:
            sender.close()
            database.close()

    return lifespan


def _add_middleware(app: FastAPI, settings: Settings, host: str | None) -> None:
    """Add the middleware of every request; what is added later runs earlier."""
    build = app.build_middleware_stack
    # Outside the handler of unexpected errors, unlike all other middleware.
    app.state.times = RequestTimes()
    app.build_middleware_stack = lambda: Timed(  # type: ignore[method-assign]
        RequestIds(HeadMiddleware(Compressed(SecurityHeaders(build())))), app.state.times
    )
    app.add_middleware(TrailingSlash)
    app.add_middleware(VaryByRequest)
    app.add_middleware(BodyLimit)
    if settings.read_needs_key:
        app.add_middleware(PrivateCacheMiddleware)
    app.add_middleware(AdmissionControl)
    app.add_middleware(Throttle)
    if settings.cors_origins:
        app.add_middleware(CORSMiddleware, **cross_origin(settings.cors_origins))
    app.add_middleware(TrustedHosts, allowed=[*settings.allowed_hosts, *([host] if host else [])])
    app.add_middleware(SingleHeaders)
