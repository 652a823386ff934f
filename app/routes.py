"""All routes of the service: resources under /v1, pages and probes."""

from functools import cache
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute

from app import feeds
from app.adjustments import adjustments, held
from app.alerts import alerts, changes, subscriptions
from app.basins import basins, level_changes, normals, observations, thresholds, user_basins
from app.forecasts import changes as forecast_changes
from app.forecasts import endpoints as forecasts
from app.forecasts import exceedance, issues, persistence, rain_margin, runs, stage, volumes, what_if
from app.forecasts import worst_errors as worst
from app.forecasts.water import balances, origin, recession, states, storage
from app.guide import pages as guide
from app.guide import search as guide_search
from app.http import problems
from app.http.api_keys import any_key, note_key, sent_key
from app.http.dependencies import refuse_unknown_parameters
from app.jobs import endpoints as jobs
from app.jobs import schedules
from app.outlooks import outlooks
from app.pages import alerts as alerts_page
from app.pages import basin as basin_page
from app.pages import issues as issues_page
from app.pages import mail, models, operating, render, side_by_side
from app.pages import rivers_today as rivers_page
from app.pages import what_if as what_if_page
from app.service import health, metrics, status
from app.versions import comparisons, scores, simulation, skilful_days, verification, versions
from app.weather import bridges, weather
from jobspec.extensions import extensions
from runtime.settings import Settings

_MODULES = (
    *(forecasts, outlooks, basins, user_basins, observations, normals, thresholds, level_changes, weather),
    *(exceedance, persistence, alerts, changes, held, adjustments, volumes, forecast_changes, rain_margin, runs),
    *(what_if, storage, origin, balances, stage, states, recession, scores, simulation),
    *(verification, worst, skilful_days, issues),
)
RESOURCES = (
    *(module.router for module in _MODULES),
    *(module.router for module in (comparisons, versions, bridges, jobs, feeds, schedules, subscriptions)),
    changes.deliveries_router,
    *(extension.load(router) for extension in extensions() for router in extension.routers),
    *(status.router, metrics.audit_router),
)
"""Routers under /v1, in the order of the OpenAPI document."""
PAGES = (
    *(page.router for page in (rivers_page, alerts_page, basin_page, side_by_side, what_if_page, models)),
    *(operating.router, issues_page.router),
    *(extension.load(router) for extension in extensions() for router in extension.pages),
)


def operation_id(route: APIRoute) -> str:
    return route.name


def add_routes(app: FastAPI, settings: Settings) -> None:
    app.router.routes.extend(_all_routes(settings.read_needs_key).routes)
    app.mount(render.PATH, render.ImmutableFiles(directory=render.FOLDER))


@cache
def _all_routes(read_needs_key: bool) -> APIRouter:
    """Return every route, built once per process. All refuse unknown parameters.

    If reading needs a key, only health probes, metrics and the guide's pages work without one.
    """
    closed: dict[str, Any] = {"dependencies": [Depends(note_key)]}
    of_pages: dict[str, Any] = {"dependencies": [Depends(sent_key)]}
    if read_needs_key:
        closed = {"dependencies": [Depends(any_key)], "responses": problems.documented(problems.Unauthorized)}
        of_pages = closed
    strict = APIRouter(dependencies=[Depends(refuse_unknown_parameters)], generate_unique_id_function=operation_id)
    for router in RESOURCES:
        strict.include_router(router, prefix="/v1", **closed)
    for module in (health, metrics):
        strict.include_router(module.router)
    for page in PAGES:
        strict.include_router(page, include_in_schema=False, **of_pages)
    for router in (mail.problems_router, mail.router, guide_search.router, guide.router):
        strict.include_router(router)
    return strict
