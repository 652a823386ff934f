"""/v1/edr"""

from typing import Annotated, Any

from fastapi import APIRouter, Response

from app.exports.formats import COVERAGEJSON, GEOJSON, Format
from app.http.conditional import NOT_MODIFIED
from app.http.dependencies import BasinId, IdCursor, Page, Reading, ServiceClock, paged
from app.http.problems import documented
from extensions.edr import answers, collections, places
from extensions.edr.answers import COLLECTIONS, ROOT, instances_of, link
from extensions.edr.collections import UnknownCollection, UnknownInstance, UnknownLocation
from extensions.edr.parameters import (
    FLAT,
    IN_COVERAGEJSON,
    IN_INSTANCE,
    IN_JSON,
    AreaCoords,
    AskedSubject,
    BoundingBox,
    CollectionId,
    PointCoords,
    ServiceBase,
)
from extensions.edr.places import NEAR_KM
from extensions.edr.schemas import EdrCollection, EdrCollections, EdrConformance, EdrInstances, EdrLanding
from extensions.edr.series import AskedSeries, OutsideForecast
from hydrology.base.errors import Problem
from records.forecasts.latest import NoForecast
from records.runs import run_types, runs
from records.series.series import NoObservations

router = APIRouter(prefix="/edr", tags=["edr"])

CLASSES = (
    "http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core",
    "http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections",
    *(
        f"http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf/{name}"
        for name in ("core", "collections", "json", "edr-geojson", "covjson", "queries")
    ),
)
_OPENAPI = "application/vnd.oai.openapi+json;version=3.1"
COLLECTION, INSTANCE = "/collections/{collection}", "/collections/{collection}/instances/{instance}"


def _answers(format_: Format) -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {format_.media_type: {"schema": format_.schema}}}}


def _series(*problems: type[Problem]) -> dict[str, Any]:
    known = documented(UnknownCollection, *problems, NoForecast, NoObservations)
    responses = NOT_MODIFIED | known | _answers(COVERAGEJSON)
    return {"response_class": Response, "responses": responses}


@router.get("", summary="Entry point for clients of OGC API - EDR", responses=documented(), dependencies=IN_JSON)
def read_edr(base: ServiceBase) -> EdrLanding:
    """Links to the collections, the conformance classes and the documentation."""
    return EdrLanding(
        title="Freshet",
        description="River forecasts and observed discharge, by OGC API - Environmental Data Retrieval 1.1.",
        links=[
            link("self", "This page", f"{base}{ROOT}"),
            link(
                "service-desc",
                "The API's document",
                f"{base}/openapi.json",
                _OPENAPI,
            ),
            link("service-doc", "The API's documentation", f"{base}/docs", "text/html"),
            link("conformance", "Conformance classes of these addresses", f"{base}{ROOT}/conformance"),
            link("data", "The collections", f"{base}{COLLECTIONS}"),
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
def list_edr_collections(session: Reading, clock: ServiceClock, base: ServiceBase) -> EdrCollections:
    """The latest forecasts, and observed discharge by its source, each with its parameters, extent and period."""
    stored = collections.collections(session, clock.now())
    return EdrCollections(
        links=[link("self", "The collections", f"{base}{COLLECTIONS}")],
        collections=[answers.describe(collection, base) for collection in stored],
    )


_DESCRIPTION: dict[str, Any] = {"response_model_exclude_none": True}
_LOCATIONS: dict[str, Any] = {"response_class": Response}


@router.get(
    INSTANCE,
    name="read_edr_instance",
    summary="Describe a run as an EDR instance",
    responses=documented(UnknownCollection, UnknownInstance),
    dependencies=[*IN_JSON, *IN_INSTANCE],
    **_DESCRIPTION,
)
@router.get(
    COLLECTION,
    summary="Describe an EDR collection",
    responses=documented(UnknownCollection),
    dependencies=IN_JSON,
    **_DESCRIPTION,
)
def read_edr_collection(subject: AskedSubject, base: ServiceBase) -> EdrCollection:
    """Its parameters, extent and period, and how to query its series."""
    return answers.describe(subject.of(), base)


@router.get(
    f"{COLLECTION}/instances",
    summary="List the runs of an EDR collection as its instances",
    responses=documented(UnknownCollection, UnknownInstance),
    dependencies=IN_JSON,
    **_DESCRIPTION,
)
def list_edr_instances(
    session: Reading,
    clock: ServiceClock,
    base: ServiceBase,
    collection: CollectionId,
    page: Annotated[Page, paged(IdCursor)],
) -> EdrInstances:
    """Every issued run and reforecast is an instance of `forecasts`, the newest first, a page at a time: follow the
    link `next`. An instance never changes."""
    at = clock.now()
    collections.require_instances(session, collection, at)
    found = runs.list_runs(session, purposes=run_types.PUBLISHED, available_by=at, after=page.after, limit=page.sought)
    shown, following = page.cut(found)
    issued = [run for run in shown if run.status != "failed"]
    more = [] if following is None else [link("next", "Older instances", f"{base}{following}")]
    return EdrInstances(
        links=[link("self", "The instances", instances_of(collection, base)), *more],
        instances=[answers.describe(one, base) for one in collections.of_runs(session, issued)],
    )


@router.get(
    f"{INSTANCE}/locations",
    name="list_edr_instance_locations",
    summary="List the locations of an EDR instance",
    responses=documented(UnknownCollection, UnknownInstance) | _answers(GEOJSON),
    dependencies=[*IN_JSON, *IN_INSTANCE],
    **_LOCATIONS,
)
@router.get(
    f"{COLLECTION}/locations",
    summary="List the locations of an EDR collection",
    responses=documented(UnknownCollection) | _answers(GEOJSON),
    dependencies=IN_JSON,
    **_LOCATIONS,
)
def list_edr_locations(subject: AskedSubject, base: ServiceBase) -> Response:
    """A point for each basin, at its gauge, as GeoJSON. Basins without a known location are left out."""
    return Response(answers.locations(subject.of(), base).model_dump_json(), media_type=GEOJSON.media_type)


@router.get(
    f"{INSTANCE}/locations/{{basin}}",
    name="read_edr_instance_location",
    summary="The series of a run at a location",
    dependencies=[*IN_COVERAGEJSON, *IN_INSTANCE],
    **_series(UnknownInstance, UnknownLocation, OutsideForecast),
)
@router.get(
    f"{COLLECTION}/locations/{{basin}}",
    summary="The series of a collection at a location",
    dependencies=IN_COVERAGEJSON,
    **_series(UnknownLocation, OutsideForecast),
)
def read_edr_location(subject: AskedSubject, series: AskedSeries, basin: BasinId) -> Response:
    """The same numbers as `/v1/basins/{basin}/forecasts/latest` and `/v1/basins/{basin}/observations`, as CoverageJSON:
    daily series, discharge in m³/s. Without `datetime` it is the whole forecast, or the last year of observations."""
    collection = subject.of([basin])
    collection.require(basin)
    return series.of_gauge(collection, basin)


@router.get(
    f"{INSTANCE}/position",
    name="read_edr_instance_position",
    summary="The series of a run at the gauge nearest to a point",
    dependencies=[*IN_COVERAGEJSON, *FLAT, *IN_INSTANCE],
    **_series(UnknownInstance, UnknownLocation, OutsideForecast),
)
@router.get(
    f"{COLLECTION}/position",
    summary="The series of the gauge nearest to a point",
    dependencies=[*IN_COVERAGEJSON, *FLAT],
    **_series(UnknownLocation, OutsideForecast),
)
def read_edr_position(subject: AskedSubject, series: AskedSeries, coords: PointCoords) -> Response:
    """The gauge that is nearest to the point, within a few kilometres: the coverage names its place. A flow is that of
    a gauge, and not of the point."""
    longitude, latitude = places.point(coords)
    collection = subject.of()
    found = places.nearest(collection.sites, longitude, latitude)
    if found is None or found[1] > NEAR_KM:
        where = "" if found is None else f" The nearest, {found[0]}, is {found[1]:.0f} km away."
        raise UnknownLocation(f"{collection.id} has no gauge within {NEAR_KM:g} km of the position.{where}")
    return series.of_gauge(collection, found[0])


@router.get(
    f"{INSTANCE}/area",
    name="read_edr_instance_area",
    summary="The series of a run at the gauges in a polygon",
    dependencies=[*IN_COVERAGEJSON, *FLAT, *IN_INSTANCE],
    **_series(UnknownInstance),
)
@router.get(
    f"{COLLECTION}/area",
    summary="The series of the gauges in a polygon",
    dependencies=[*IN_COVERAGEJSON, *FLAT],
    **_series(),
)
def read_edr_area(subject: AskedSubject, series: AskedSeries, coords: AreaCoords) -> Response:
    """A coverage for each basin whose gauge lies in the polygon and has data in the interval, which may be none."""
    rings = places.polygon(coords)
    collection = subject.of()
    return series.of_gauges(collection, places.within(collection.sites, rings), "coords")


@router.get(
    f"{INSTANCE}/cube",
    name="read_edr_instance_cube",
    summary="The series of a run at the gauges in a box",
    dependencies=[*IN_COVERAGEJSON, *FLAT, *IN_INSTANCE],
    **_series(UnknownInstance),
)
@router.get(
    f"{COLLECTION}/cube",
    summary="The series of the gauges in a box",
    dependencies=[*IN_COVERAGEJSON, *FLAT],
    **_series(),
)
def read_edr_cube(subject: AskedSubject, series: AskedSeries, bbox: BoundingBox) -> Response:
    """A coverage for each basin whose gauge lies in the box and has data in the interval, which may be none."""
    collection = subject.of()
    return series.of_gauges(collection, places.in_box(collection.sites, bbox), "bbox")
