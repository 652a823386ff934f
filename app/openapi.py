"""The words and the shape of the OpenAPI document."""

import copy
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.http.base_schema import Model
from app.http.dependencies import Reading, ServiceClock, ServiceSettings
from app.http.problems import MEDIA_TYPE
from records.basins import basins
from records.forecasts import latest

AnyModel = TypeVar("AnyModel", bound=BaseModel)

TITLE = "Freshet"
DESCRIPTION = """
River forecasts with mass-conserving networks: how much water will flow, how much is stored as snow and otherwise,
and a water balance that closes for every member of every forecast.

- **Days** are `YYYY-MM-DD`, **instants** RFC 3339 in UTC. A forecast starts after **T0**, the last day that the
  model's state has consumed; `issued_at` says when it was made, `available_at` since when it may be read.
- **Units** stand beside the values. Discharge is in m³/s unless you ask for `mm/day` or `cfs`; storage is in mm over
  the basin. Depths and flows are converted with the area that the answer names. Values have 7 significant digits,
  the precision of the computation.
- **Missing** is `null`, and `missing` says why.
- **Stale** forecasts say so: each says how many days its T0 lies behind the service's clock, and `/v1/status` says it
  of every input.
- **Errors** are problem details (RFC 9457): `type` never changes and is the address of a page about it, `detail` says
  how to mend it. An unknown query parameter is refused.
- **A run never changes**: a corrected input makes a new run. The latest forecast may be kept for a minute; use its
  `ETag` with `If-None-Match` afterwards.
- **Writing** needs a key, made with `freshet keys make`: press *Authorize* here, or send it as
  `Authorization: Bearer TOKEN`. An operator has jobs done whose results are its own, an admin may do everything.
- **Work** is done by jobs: post one, follow its `Location`, watch its events. A job that is posted again under the same
  `Idempotency-Key` is the same job.
"""
TAGS = [
    {"name": "forecasts", "description": "How much water will flow, how sure that is, and where the water is."},
    {"name": "basins", "description": "Which basins there are and what is known of them."},
    {"name": "observations", "description": "What was measured: discharge, weather, snow."},
    {"name": "thresholds", "description": "Which flows are floods and which are low, by the record or by decision."},
    {"name": "weather", "description": "Weather forecasts: which are kept, and what they say of a basin."},
    {"name": "alerts", "description": "Which levels flow is likely to pass, how severe that is, and what changed."},
    {"name": "water", "description": "How much water a basin holds, and whether every millimetre is accounted for."},
    {"name": "skill", "description": "How well the models have done."},
    {"name": "comparisons", "description": "Model versions beside each other and beside published results."},
    {"name": "models", "description": "Model versions: what they are made of and where they are in use."},
    {"name": "jobs", "description": "Work that takes a while: ingests, trainings, forecasts, evaluations and more."},
    {"name": "feeds", "description": "Where discharge, weather and weather forecasts come from, and what came of it."},
    {"name": "bridges", "description": "From a live product of weather to the one that a network learnt from."},
    {"name": "schedules", "description": "Jobs that are posted by themselves."},
    {"name": "subscriptions", "description": "Who is told of alert changes, and what came of it."},
    {"name": "edr", "description": "Forecasts and observed flow for clients of OGC API - EDR."},
    {"name": "audit", "description": "Who changed what, when, from where."},
    {"name": "status", "description": "How fresh everything is, and what is degraded."},
    {"name": "health", "description": "Whether the service can answer."},
]


def with_problems(app: FastAPI) -> Callable[[], dict[str, Any]]:
    """Return an application's `openapi`, whose errors bear the media type of problem details.

    Its examples are whole: FastAPI leaves out what is null, and an answer does not.
    """
    plain = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            for path in plain()["paths"].values():
                for operation in path.values():
                    for status, response in operation["responses"].items():
                        if status >= "400":
                            response["content"] = {MEDIA_TYPE: response["content"]["application/json"]}
            schemas = plain()["components"]["schemas"]
            for model in models(Model):
                if model.__name__ in schemas and "json_schema_extra" in model.model_config:
                    schemas[model.__name__] |= model.model_config["json_schema_extra"]
        return plain()

    return openapi


def serve(app: FastAPI) -> None:
    """Serve the document with basins, runs and versions that are kept, so that what is tried out on its page is there.

    A service that asks readers for a key serves it as it is: it would otherwise name basins.
    """
    url = str(app.openapi_url)
    app.router.routes[:] = [route for route in app.router.routes if getattr(route, "path", None) != url]
    app.add_api_route(url, _document, include_in_schema=False)


def _document(request: Request, session: Reading, clock: ServiceClock, settings: ServiceSettings) -> JSONResponse:
    document = request.app.openapi()
    stored = {} if settings.read_needs_key else _stored_examples(session, clock.now())
    return JSONResponse(filled(document, stored) if stored else document)


def _stored_examples(session: Session, at: datetime) -> dict[str, str]:
    """Return examples of what is kept, by the names of parameters: of a basin with a forecast, else of any basin."""
    if with_forecast := latest.newest_t0s(session, at):
        newest = latest.latest(session, min(with_forecast), at)
        basin = newest.basin.basin_id
        return {"basin": basin, "run": newest.run.id, "version": newest.run.version_id}
    first = basins.list_basins(session, limit=1)
    return {"basin": first[0].id} if first else {}


def filled(document: dict[str, Any], stored: Mapping[str, str]) -> dict[str, Any]:
    """Return a document whose reading operations have examples of what is kept for what has to be given.

    What writes keeps its own: the basin of `PUT /v1/basins/{basin}` is one that is not there yet.
    """
    paths = copy.deepcopy(document["paths"])
    for path in paths.values():
        for parameter in path.get("get", {}).get("parameters", []):
            if parameter["required"] and parameter["name"] in stored:
                parameter["example"] = stored[parameter["name"]]
                parameter["schema"]["examples"] = [stored[parameter["name"]]]
    return document | {"paths": paths}


def models(above: type[AnyModel]) -> Iterator[type[AnyModel]]:
    """Yield every model below another."""
    for model in above.__subclasses__():
        yield model
        yield from models(model)
