"""Renders a page from its template and its contents; its static files; problems of pages as pages."""

import re
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, tzinfo
from functools import cache
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, get_args
from urllib.parse import quote, urlencode
from zoneinfo import ZoneInfo

from fastapi import Depends, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from jinja2 import Environment, FileSystemLoader, StrictUndefined, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from app.forecasts.words import number, on, signed
from app.http.api_keys import needed_scope
from app.http.conditional import FOR_EVER
from app.http.error_answers import faults_of
from app.http.problems import Forbidden, InvalidRequest, Unauthorized, title_of
from hydrology.base.absent import Absent
from hydrology.base.basins import place_in_words
from hydrology.base.calendar import age_days, as_date, stale, zone
from hydrology.base.digests import short_name
from hydrology.base.errors import InvalidInput, Problem
from hydrology.base.unit_systems import CHOICES, UnitSystem
from hydrology.base.units import STANDARD, Units
from hydrology.extremes.level_checks import level_title, percent
from jobspec.extensions import extensions
from jobspec.fields import TimeZone
from runtime.clock import Clock
from runtime.release import code_version

FOLDER = Path(__file__).parent / "static"
PATH = "/static"


class ImmutableFiles(StaticFiles):
    """Static files that may be cached forever if the address contains their digest."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        if scope["query_string"] == f"v={digest(path)}".encode():
            response.headers["Cache-Control"] = FOR_EVER
        return response


@cache
def digest(name: str) -> str:
    """Return the first digits of a file's hash."""
    return short_name((FOLDER / name).read_bytes(), digits=12)


TEMPLATES = Path(__file__).parent / "templates"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
"""Content policy of pages: only this service's files, no inline scripts."""
STALE = "; stale"
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


NAVIGATION = {
    "/": "Rivers",
    "/alerts": "Alerts",
    "/models": "Models",
    "/jobs": "Jobs",
    "/feeds": "Feeds",
    "/schedules": "Schedules",
    "/status": "Status",
    "/guide": "Guide",
    "/docs": "API",
}
"""Titles of the links at the head of each page, by their paths."""

CITIES = ("New_York", "Chicago", "Denver", "Phoenix", "Los_Angeles", "Anchorage")
ZONES = ("UTC", *(f"America/{city}" for city in CITIES))
"""The time zones that pages suggest; they take every name of the time zone database."""


def day_and_time(instant: datetime, there: tzinfo = UTC) -> str:
    """Format an instant in a time zone as text: 21 April 2008, 06:00 UTC."""
    local = instant.astimezone(there)
    return f"{in_full(local.date())}, {local:%H:%M} {local.tzname()}"


@pass_context
def _in_zone(context: Context, instant: datetime) -> str:
    return day_and_time(instant, context["zone"])


def in_full(day: date) -> str:
    """Format a day with its year: 21 April 2008."""
    return f"{on(day)} {day.year}"


def words(text: str) -> Markup:
    """Return an API text with names in backticks as HTML code."""
    return Markup(re.sub("`(.*?)`", r"<code>\1</code>", str(escape(text))))


_DAYS_IN_TEXT = re.compile(r"(--[a-z-]+ )?(?<![^ (])(\d{4}-\d\d-\d\d)(?:\.\.(\d{4}-\d\d-\d\d))?(?![\w\"'/-])")


def with_days_in_full(text: str) -> str:
    """Write the days and periods of a sentence as pages do: of 1997-03-14 is of 14 March 1997."""
    return _DAYS_IN_TEXT.sub(_days_in_full, text) if " " in text else text


def _days_in_full(found: re.Match[str]) -> str:
    option, *days = found.groups()
    with suppress(ValueError):  # a day that does not exist stays as somebody wrote it
        if option is None:  # else it is part of a command
            return " to ".join(in_full(date.fromisoformat(day)) for day in days if day)
    return found[0]


def _shown(value: object) -> object:
    is_text = isinstance(value, str | Absent) and not isinstance(value, Markup)
    return with_days_in_full(str(value)) if is_text else value


_ENVIRONMENT = Environment(
    loader=FileSystemLoader([TEMPLATES, *(one.folder for one in extensions() if one.pages)]),
    finalize=_shown,
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters |= {
    "number": number,
    "on": on,
    "in_full": in_full,
    "day_and_time": _in_zone,
    "words": words,
    "level": level_title,
    "chance": percent,
    "signed": signed,
    "as_date": as_date,
    "age": age_days,
    "pairs": lambda values: [(value, value) for value in values],
}
_ENVIRONMENT.tests |= {"absent": lambda value: isinstance(value, Absent), "stale": stale}
_ENVIRONMENT.globals |= {
    "navigation": NAVIGATION,
    "unit_choices": CHOICES,
    "zones": ZONES,
    "place": place_in_words,
    "version": code_version(),
    "icon": f"data:image/svg+xml,{quote((FOLDER / 'icon.svg').read_text().strip())}",
}


def render(request: Request, template: str, page: Any = None, /, *, status: int = 200, **contents: Any) -> HTMLResponse:
    """Render a page from an object with its contents, or from its contents by name.

    Times of day are in the reader's time zone, else in the `time_zone` of the contents, else in UTC.
    """
    clock: Clock = request.app.state.clock
    base = request.scope.get("root_path", "")
    there = chosen_zone(request) or zone(contents.get("time_zone") or "UTC")
    asked = [(name, value) for name, value in request.query_params.multi_items() if name not in CHOSEN]
    body = _ENVIRONMENT.get_template(template).render(
        page=SimpleNamespace(**contents) if page is None else page,
        units=UnitSystem(chosen_units(request)),
        zone=there,
        parameters=asked,
        with_units=lambda units: f"{base}{request.scope['path']}?{urlencode([*asked, ('units', units)])}",
        base=base,
        path=request.scope["path"],
        key=getattr(request.state, "key", None),
        now=clock.now(),
        replayed=clock.as_of is not None,
        static=lambda name: f"{base}{PATH}/{name}?v={digest(name)}",
    )
    headers = {"Content-Security-Policy": POLICY, "Cache-Control": "no-cache", "Vary": "Authorization, Cookie"}
    answer = HTMLResponse(body, status, headers)
    is_secure = request.url.scheme == "https"
    for name, chosen in (("units", chosen_units(request)), ("zone", there.key)):
        if request.query_params.get(name) == chosen:
            answer.set_cookie(
                CHOSEN[name], chosen, YEAR, path=base or "/", secure=is_secure, httponly=True, samesite="lax"
            )
    return answer


CHOSEN: Mapping[str, str] = {"units": "freshet-units", "zone": "freshet-zone"}
"""What a page remembers of a reader, by its name in the address: the name of its cookie."""
YEAR = 365 * 86_400


def chosen_units(request: Request) -> Units:
    """Return the units of a page: those of its address, else those chosen before, else metric ones."""
    given = (request.query_params.get("units"), request.cookies.get(CHOSEN["units"]))
    return next((unit for name in given for unit in get_args(Units) if unit == name), STANDARD)


def chosen_zone(request: Request) -> ZoneInfo | None:
    """Return the time zone of a page that is in its address, else that chosen before."""
    for name in (request.query_params.get("zone"), request.cookies.get(CHOSEN["zone"])):
        with suppress(InvalidInput):
            if name:
                return zone(name)
    return None


async def page_units(
    request: Request,
    units: Annotated[
        Units | None, Query(description="The units of every number of the page; by default those chosen before.")
    ] = None,
    _zone: Annotated[
        TimeZone | None,
        Query(alias="zone", description="The time zone of every time of day; by default that chosen before."),
    ] = None,
) -> Units:
    """Take the units and the time zone of a page; `render` shows them, also on the page of a problem."""
    return units or chosen_units(request)


ChosenUnits = Annotated[Units, Depends(page_units)]


class PageRoute(APIRoute):
    """A route whose problems are pages, and that takes the units of its numbers."""

    def __init__(self, *args: Any, **options: Any) -> None:
        options["dependencies"] = [*(options.get("dependencies") or ()), Depends(page_units)]
        super().__init__(*args, **options)

    def get_route_handler(self) -> Handler:
        read = super().get_route_handler()

        async def handle(request: Request) -> Response:
            try:
                return await read(request)
            except RequestValidationError as error:
                return _page(request, InvalidRequest(faults_of(request, error)))
            except Problem as problem:
                if type(problem).status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                    raise
                return _page(request, problem)

        return handle


def _page(request: Request, problem: Problem) -> Response:
    return render(
        request,
        "errors/failed.html",
        status=type(problem).status,
        title=title_of(problem.kind),
        detail="" if isinstance(problem, Unauthorized) else str(problem),
        scope=needed_scope(request) if isinstance(problem, Unauthorized | Forbidden) else None,
    )
