"""/v1/edr"""

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Response
from sqlalchemy.orm import Session

from app.basins.observations import service as observations
from app.basins.observations import table as observation_table
from app.basins.observations.service import DISCHARGE
from app.basins.series_requests import SeriesRequest
from app.edr import answers, collections, selection
from app.edr.answers import COLLECTIONS, ROOT, link
from app.edr.collections import FORECASTS, Collection, UnknownCollection, UnknownLocation
from app.edr.schemas import EdrCollection, EdrCollections, EdrConformance, EdrLanding
from app.edr.selection import Days
from app.exports.answers import CoverageAnswer
from app.exports.formats import COVERAGEJSON, GEOJSON, Format
from app.exports.table import Table
from app.forecasts import lookup, service
from app.forecasts import table as forecast_table
from app.forecasts.discharge import Representation
from app.http.conditional import NOT_MODIFIED
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.problems import documented
from hydrology.base.calendar import day
from records.basins.basins import sites
from records.forecasts.latest import NoForecast
from records.series.series import NoObservations

router = APIRouter(prefix="/edr", tags=["edr"])

CLASSES = (
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
    *(
        f"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/{name}"
        for name in ("core", "collections", "json", "edr-geojson", "covjson")
    ),
)

AsJson = Annotated[Literal["json"], Query(alias="f", description="The format, which is JSON.")]
CollectionId = Annotated[
    str, Path(description="A collection's id.", pattern="^[0-9A-Za-z_.-]{1,64}$", examples=[FORECASTS])
]
Datetime = Annotated[
    str | None,
    Query(
        alias="datetime",
        description="A day, an instant in it, or an interval between two, each end included and `..` where it is open.",
        max_length=100,
        examples=["2008-04-21/2008-04-30"],
    ),
]
ParameterNames = Annotated[
    str | None,
    Query(
        alias="parameter-name",
        description="Parameters of the collection, with commas between; all where none is named.",
        max_length=1000,
    ),
]
AsCoverage = Annotated[Literal["CoverageJSON"], Query(alias="f", description="The format, which is CoverageJSON.")]


async def _json(_format: AsJson = "json") -> None:
    """Accept the format that the standard lets clients name."""


async def _coverage(_format: AsCoverage = "CoverageJSON") -> None:
    """Accept the format that the standard lets clients name."""


def _whole(session: Reading, clock: ServiceClock, collection: CollectionId) -> Collection:
    return collections.collection(session, collection, clock.now())


WholeCollection = Annotated[Collection, Depends(_whole)]
IN_JSON, IN_COVERAGEJSON = [Depends(_json)], [Depends(_coverage)]


def _answers(format_: Format) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {format_.media_type: {"schema": format_.schema}}}}


@router.get("", summary="Entry point for clients of OGC API - EDR", responses=documented(), dependencies=IN_JSON)
def read_edr() -> EdrLanding:
    """Links to the collections, the conformance classes and the documentation."""
    return EdrLanding(
        title="Freshet",
        description="River forecasts and observed discharge, by OGC API - Environmental Data Retrieval 1.1.",
        links=[
            link("self", "This page", ROOT),
            link("service-desc", "The API's document", "/openapi.json", "application/vnd.oai.openapi+json;version=3.1"),
            link("service-doc", "The API's documentation", "/docs", "text/html"),
            link("conformance", "Conformance classes of these addresses", f"{ROOT}/conformance"),
            link("data", "The collections", COLLECTIONS),
        ],
    )


@router.get(
    "/conformance", summary="Conformance classes of OGC API - EDR", responses=documented(), dependencies=IN_JSON
)
def read_edr_conformance() -> EdrConformance:
    """The identifiers of the conformance classes."""
    return EdrConformance(conformsTo=list(CLASSES))


@router.get(
    "/collections",
    summary="List EDR collections",
    responses=documented(),
    response_model_exclude_none=True,
    dependencies=IN_JSON,
)
def list_edr_collections(session: Reading, clock: ServiceClock) -> EdrCollections:
    """The latest forecasts, and observed discharge by its source, each with its parameters, extent and period."""
    stored = collections.collections(session, clock.now())
    return EdrCollections(
        links=[link("self", "The collections", COLLECTIONS)],
        collections=[answers.describe(collection) for collection in stored],
    )


@router.get(
    "/collections/{collection}",
    summary="Describe an EDR collection",
    responses=documented(UnknownCollection),
    response_model_exclude_none=True,
    dependencies=IN_JSON,
)
def read_edr_collection(collection: WholeCollection) -> EdrCollection:
    """Its parameters, extent and period, and how to query its series."""
    return answers.describe(collection)


@router.get(
    "/collections/{collection}/locations",
    summary="List the locations of an EDR collection",
    responses=documented(UnknownCollection) | _answers(GEOJSON),
    response_class=Response,
    dependencies=IN_JSON,
)
def list_edr_locations(collection: WholeCollection) -> Response:
    """A point for each basin, at its gauge, as GeoJSON. Basins without a known location are left out."""
    return Response(answers.locations(collection).model_dump_json(), media_type=GEOJSON.media_type)


@router.get(
    "/collections/{collection}/locations/{basin}",
    summary="The series of a collection at a location",
    responses=NOT_MODIFIED
    | documented(UnknownCollection, UnknownLocation, NoForecast, NoObservations)
    | _answers(COVERAGEJSON),
    response_class=Response,
    dependencies=IN_COVERAGEJSON,
)
def read_edr_location(
    session: Reading,
    clock: ServiceClock,
    collection: CollectionId,
    basin: BasinId,
    answer: CoverageAnswer,
    names: ParameterNames = None,
    days: Datetime = None,
) -> Response:
    """The same numbers as `/v1/basins/{basin}/forecasts/latest` and `/v1/basins/{basin}/observations`, as CoverageJSON:
    daily series, discharge in m³/s. Without `datetime` it is the whole forecast, or the last year of observations."""
    at = clock.now()
    of_collection = collections.collection(session, collection, at, [basin])
    of_collection.require(basin)
    chosen, between = selection.parameters(names, of_collection.columns), selection.days(days)
    if of_collection.id == FORECASTS:
        whole = _forecast(session, basin, at)
    else:
        whole = _observed(session, of_collection, basin, between)
    part = selection.narrowed(whole, chosen, between)
    return answer.file(part.tag, lambda: part)


def _forecast(session: Session, basin: str, at: datetime) -> Table:
    latest = lookup.latest(session, basin, at)
    (parts,) = service.stored_parts(session, [latest], members=False)
    forecast = service.basin_forecast(latest, parts, Representation("m3/s", members=False, at=at))
    return forecast_table.of_one(forecast, sites(session, [basin]))


def _observed(session: Session, collection: Collection, basin: str, between: Days) -> Table:
    start, end = (None if bound is None else day(bound) for bound in between)
    request = SeriesRequest(product=collection.product, variable=DISCHARGE, start=start, end=end)
    answer = observations.answer(session, observations.part(session, basin, request))
    return observation_table.of_observations(answer, sites(session, [basin]))
