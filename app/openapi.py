"""Texts and structure of the OpenAPI document."""

import copy
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from threading import Lock
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.examples import all_examples
from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.http.problems import MEDIA_TYPE
from app.pages.render import render
from hydrology.base.basins import gauge_product
from jobspec.extensions import extensions
from records.basins import basins
from records.forecasts import latest
from records.verification import comparisons
from records.weather import weather_issues

TITLE = "Freshet"
DESCRIPTION = """
River forecasts with mass-conserving networks: how much water will flow, how much is stored as snow and otherwise,
and a water balance that closes for every member of every forecast. [Back to the rivers](./), [the guide](guide),
[search the guide and this API](guide/search).

- **Days** are `YYYY-MM-DD`, **instants** RFC 3339 in UTC. A forecast starts after **T0**, the last day that the
  initial state includes; `issued_at` is the time of issue, `available_at` the time since which it is readable.
- **Units** stand beside the values. Discharge is in m³/s unless you ask for `mm/day` or `cfs`; storage is in mm over
  the basin. Depths and flows are converted with the area that the answer names. Values have 7 significant digits,
  the precision of the computation.
- **Missing** is `null`, and `missing` gives the reason.
- **Stale** forecasts are marked: each gives the number of days that its T0 lies behind the service's clock, and
  `/v1/status` the same for every input.
- **Errors** are problem details (RFC 9457): `type` never changes and is the address of a page about it, `detail`
  gives the remedy. An unknown query parameter is refused.
- **A run never changes**: a corrected input leads to a new run. The latest forecast may be cached for a minute; use
  its `ETag` with `If-None-Match` afterwards.
- **Writing** needs a key, created with `freshet keys make`: press *Authorize* here, or send it as
  `Authorization: Bearer TOKEN`. The results of an operator's jobs belong to its key, an admin may do everything.
- **Work** is done by jobs: post one, follow its `Location`, watch its events. A job that is posted again under the same
  `Idempotency-Key` is the same job.
"""
TAGS = {
    "forecasts": "Future discharge, its uncertainty, the stored water, and what forecasters adjust.",
    "basins": "Basins, their metadata and stored data.",
    "observations": "Observed discharge, weather and snow.",
    "thresholds": "Levels of flood and low flow, from the record or set by operators; rating tables and stage.",
    "weather": "Stored weather forecasts and their values for a basin.",
    "alerts": "Levels that flow is likely to pass, their severity and history, and changes that wait for approval.",
    "water": "Water stored in a basin, its origin and age, and the water balance.",
    "skill": "Skill and verification of the models.",
    "comparisons": "Model versions compared with each other and with published results.",
    "models": "Model versions, their contents and current use.",
    "jobs": "Work that takes a while: ingests, trainings, forecasts, evaluations and more.",
    "feeds": "Sources of discharge, weather and weather forecasts, and the outcome of their fetches.",
    "bridges": "Corrections from a live weather product to the one used in training.",
    "schedules": "Jobs posted at regular times.",
    "subscriptions": "Receivers of alert changes, and deliveries to them.",
    **{tag: text for extension in extensions() for tag, text in extension.tags.items()},
    "audit": "Who changed what, when, from where.",
    "status": "How fresh everything is, and what is degraded.",
    "health": "Whether the service can answer.",
}


def with_problems(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """Return an application's `openapi`, with problem details as the media type of errors, and examples of answers."""
    plain, building = app.openapi, Lock()

    def openapi() -> dict[str, Any]:
        with building:
            if app.openapi_schema is None:
                for path in plain()["paths"].values():
                    for operation in path.values():
                        for status, response in operation["responses"].items():
                            if status >= "400":
                                response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}
                _describe_object_defaults(plain()["components"]["schemas"])
                _add_examples(plain())
            return plain()

    return openapi


def _describe_object_defaults(schemas: dict[str, Any]) -> None:
    """Move defaults that are objects into the descriptions: generators of clients refuse a schema that has one."""
    for field in (field for schema in schemas.values() for field in schema.get("properties", {}).values()):
        if isinstance(field.get("default"), dict) and field["default"]:
            shown = f"By default `{json.dumps(field.pop('default'))}`."
            field["description"] = " ".join(filter(None, (field.get("description"), shown)))


def _add_examples(document: dict[str, Any]) -> None:
    """Add examples to the document; one of a schema renamed since is left out, so that new ones can be written."""
    operations = {one["operationId"]: one for path in document["paths"].values() for one in path.values()}
    schemas = document["components"]["schemas"]
    for name, example in all_examples().items():
        if name in operations:
            (content,) = operations[name]["responses"]["200"]["content"].values()
            content["example"] = example
        elif name in schemas:
            schemas[name]["examples"] = [example]


def serve(app: FastAPI) -> None:
    """Serve the document with stored examples, but unchanged where reading needs a key, so as not to reveal basins.

    Its page lists the operations, and reads the document when one is opened.
    """
    url = str(app.openapi_url)
    app.router.routes[:] = [route for route in app.router.routes if getattr(route, "path", None) != url]
    app.add_api_route(url, _document, include_in_schema=False)
    app.add_api_route("/docs", _page, include_in_schema=False)


def _page(request: Request) -> HTMLResponse:
    from markdown_it import MarkdownIt  # here: the API starts without it

    document = request.app.openapi()
    about = Markup(MarkdownIt().render(document["info"]["description"]))
    return render(request, "api.html", document=document, about=about)


def _document(request: Request, session: Reading, clock: ServiceClock, settings: ServiceSettings) -> JSONResponse:
    document = request.app.openapi()
    if settings.read_needs_key:
        return JSONResponse(document)
    return JSONResponse(filled(document, _stored_examples(session, clock.now())))


def _stored_examples(session: Session, at: datetime) -> dict[str, str]:
    """Return stored examples by parameter name, preferring a basin with a forecast."""
    stored = {}
    if compared := comparisons.list_comparisons(session, limit=1):
        stored["comparison"] = compared[0].id
    if issues := weather_issues.list_issues(session, at, limit=1):
        stored["weather"] = issues[0].id
    if with_forecast := latest.last_past_days(session, at):
        newest = latest.latest(session, min(with_forecast), at)
        stored |= {"basin": newest.basin.basin_id, "run": newest.run.id, "version": newest.run.version_id}
    elif first := basins.list_basins(session, limit=1):
        stored["basin"] = first[0].id
    if "basin" in stored:
        stored["product"] = gauge_product(stored["basin"])
    for name, form in (item for extension in extensions() for item in extension.path_examples.items()):
        with suppress(KeyError):  # nothing of what it refers to is stored
            stored[name] = form.format_map(stored)
    return stored


def filled(document: dict[str, Any], stored: Mapping[str, str]) -> dict[str, Any]:
    """Fill in stored examples for the required parameters of reading operations.

    An optional parameter names its example in its description alone: a form that is filled in with a basin or a day of
    another installation would find nothing. Writing operations have their own: `PUT /v1/basins/{basin}` takes a new
    basin.
    """
    paths = copy.deepcopy(document["paths"])
    for path in paths.values():
        for parameter in path.get("get", {}).get("parameters", []):
            schema = parameter["schema"]
            if not parameter["required"]:
                if examples := schema.pop("examples", None):
                    parameter["description"] = f"{parameter['description']} Example: `{examples[0]}`."
            elif parameter["name"] in stored:
                parameter["example"] = stored[parameter["name"]]
                schema["examples"] = [stored[parameter["name"]]]
    return document | {"paths": paths}
