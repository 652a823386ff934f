"""All routes of the service: resources under /v1, pages and probes."""

from functools import cache
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute

from app.adjustments.endpoints import router as adjustments
from app.adjustments.held import router as held_alerts
from app.alerts.alerts import router as alerts
from app.alerts.changes import router as alert_changes
from app.alerts.deliveries import router as deliveries
from app.alerts.subscriptions import router as subscriptions
from app.basins.basins import router as basins
from app.basins.level_changes import router as level_changes
from app.basins.normals import router as normals
from app.basins.observations import router as observations
from app.basins.ratings import router as ratings
from app.basins.thresholds import router as thresholds
from app.basins.user_basins import router as user_basins
from app.feeds import router as feeds
from app.forecasts.changes.answer import router as changes
from app.forecasts.endpoints import router as forecasts
from app.forecasts.exceedance import router as exceedance
from app.forecasts.rain_margin import router as rain_margin
from app.forecasts.runs import router as runs
from app.forecasts.spread import router as spread
from app.forecasts.stage import router as stage
from app.forecasts.volumes import router as volumes
from app.forecasts.water.balances import router as balances
from app.forecasts.water.origin import router as origin
from app.forecasts.water.recession import router as drain_down
from app.forecasts.water.states import router as states
from app.forecasts.water.storage import router as storage
from app.forecasts.what_if import router as what_if
from app.forecasts.worst_errors import router as errors
from app.guide.pages import router as guide
from app.http import problems
from app.http.api_keys import any_key
from app.http.dependencies import refuse_unknown_parameters
from app.jobs.endpoints import router as jobs
from app.jobs.schedules import router as schedules
from app.outlooks.endpoints import router as outlooks
from app.pages import static_files
from app.pages.mail import router as mail_pages
from app.pages.router import router as pages
from app.problem_pages import router as problem_pages
from app.service.audit import router as audit
from app.service.health import router as health
from app.service.metrics import router as metrics
from app.service.status import router as status
from app.versions.comparisons import router as comparisons
from app.versions.decisions import router as decisions
from app.versions.events import router as events
from app.versions.scores import router as skill
from app.versions.simulation import router as simulation
from app.versions.verification import router as verification
from app.versions.versions import router as models
from app.weather.bridges import router as bridges
from app.weather.weather import router as weather
from jobspec.extensions import extensions
from runtime.settings import Settings

RESOURCES = (
    *(forecasts, outlooks, basins, user_basins, observations, normals, thresholds, level_changes, ratings),
    *(weather, exceedance),
    *(
        alerts,
        alert_changes,
        held_alerts,
        adjustments,
        volumes,
        changes,
        rain_margin,
        runs,
        what_if,
        storage,
        origin,
        balances,
        stage,
    ),
    *(states, spread, drain_down, skill, simulation, verification, errors, decisions, events, comparisons),
    *(models, bridges),
    *(jobs, feeds, schedules, subscriptions, deliveries),
    *(extension.load(router) for extension in extensions() for router in extension.routers),
    *(status, audit),
)
"""Routers under /v1, in the order of the OpenAPI document."""


def operation_id(route: APIRoute) -> str:
    """Return the name of an operation in the OpenAPI document."""
    return route.name


def add_routes(app: FastAPI, settings: Settings) -> None:
    """Add every route to the service."""
    app.router.routes.extend(_all_routes(settings.read_needs_key).routes)
    app.mount(static_files.PATH, static_files.files())


@cache
def _all_routes(read_needs_key: bool) -> APIRouter:
    """Return every route, built once per process. All refuse unknown parameters.

    If reading needs a key, only health probes, metrics and the guide's pages work without one.
    """
    closed: dict[str, Any] = {}
    if read_needs_key:
        closed = {"dependencies": [Depends(any_key)], "responses": problems.documented(problems.Unauthorized)}
    strict = APIRouter(dependencies=[Depends(refuse_unknown_parameters)], generate_unique_id_function=operation_id)
    for router in RESOURCES:
        strict.include_router(router, prefix="/v1", **closed)
    strict.include_router(health)
    strict.include_router(metrics)
    strict.include_router(pages, **closed)
    strict.include_router(problem_pages)
    strict.include_router(mail_pages)
    strict.include_router(guide)
    return strict
