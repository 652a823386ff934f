"""POST /v1/basins, PUT /v1/basins/{basin} and POST /v1/basins/observations"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import AfterValidator

from app.basins import service as basins
from app.basins.schemas import BasinDetail
from app.basins.user_basins import service
from app.basins.user_basins.schemas import OWN, PRODUCT, Adoption, OwnBasin
from app.basins.user_basins.service import NotYours, TakenNamespace
from app.http.api_keys import AdminWriter, KeyFirstRoute, OperatorWriter
from app.http.base_schema import why_null
from app.http.dependencies import BasinId
from app.http.limits.body_limit import LARGEST_UPLOAD, MIB
from app.http.problems import UnsupportedMedia, documented_writing
from app.jobs.posting import JobPoster, Upload, documented_posting, upload_of
from app.jobs.schemas import Job
from jobspec.basins import AddedBasin
from jobspec.fields import BASIN_SCHEMA, full_id
from jobspec.jobs.data import BasinJob, UploadJob, UploadParams
from records.basins import basins as basin_records
from records.basins.basins import UnknownBasin
from records.basins.ownership import AgencysName
from records.feeds.product_credits import ProductConflict
from records.job_permissions import permissions
from records.versions import adoption
from records.versions.adoption import AlreadyOfficial, NotAdopted

router = APIRouter(prefix="/basins", tags=["basins"], route_class=KeyFirstRoute)

_CSV = "basin,date,precipitation_mm_per_day,discharge_m3_per_s\nOWN-mill,2008-04-01,3.2,1.71\n"
_UPLOAD: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "The columns `basin` and `date`, and one for each variable with its unit in its name; an empty "
        "cell is missing.",
        "content": {
            "text/csv": {"schema": {"type": "string", "minLength": 1}, "example": _CSV},
            "application/json": {
                "schema": {"type": "array", "minItems": 1, "items": {"type": "object"}},
                "example": [{"basin": "OWN-mill", "date": "2008-04-01", "precipitation_mm_per_day": 3.2}],
            },
        },
    }
}

ObservationsUpload = Annotated[
    Upload,
    Depends(
        upload_of(
            {"text/csv": ".csv", "application/json": ".json"},
            refusal="Observations come as text/csv or application/json: name one of them in the Content-Type header.",
            empty="it is empty: send a table",
        )
    ),
]
OwnBasinId = Annotated[
    str,
    AfterValidator(full_id),
    Path(description="A name in a namespace of your own.", json_schema_extra=BASIN_SCHEMA, examples=["OWN-mill"]),
]
_NEW: dict[int | str, dict[str, Any]] = {201: {"model": BasinDetail, "description": "The basin is new."}}
OwnProduct = Annotated[
    str,
    Query(description="The product that the weather is stored under, as registered with the basins.", pattern=PRODUCT),
]


@router.put(
    "/{basin}",
    summary="Register a basin of your own",
    responses=_NEW | documented_writing(TakenNamespace, NotYours, AgencysName),
)
def put_basin(response: Response, writer: OperatorWriter, basin: OwnBasinId, own: OwnBasin) -> BasinDetail:
    """Its location, drainage area and attributes, under a namespace of your own (`OWN-mill`). A second request
    changes it, with the key that registered it or an admin's; fields that are left out stay as they were. Its
    observations follow by `POST /v1/basins/observations`. With an operator's key it is unofficial, until an
    administrator adopts it: every answer marks it, and its alerts go to the key's own subscriptions alone."""
    with writer.database.transaction() as session:
        new = service.register(session, writer.key, basin, own, writer.now)
        writer.record(session, "basin registered" if new else "basin changed", basin)
        shown = basins.detail(session, basin)
    response.status_code = 201 if new else 200
    return shown


@router.put(
    "/{basin}/adoption",
    summary="Make an operator's basin official",
    responses=documented_writing(UnknownBasin, AlreadyOfficial),
)
def adopt_basin(writer: AdminWriter, basin: BasinId) -> Adoption:
    """Its levels, its rating and the version that serves it become the service's with it: check them first. The key
    that registered it changes none of them any more. Its alerts begin anew with the next forecast."""
    with writer.database.transaction() as session:
        basin_records.require(session, basin)
        held = adoption.adopt(session, basin, writer.clock)
        detail = held.as_detail()
        writer.record(session, "basin adopted", basin, **detail)
    missing = why_null(detail, {"version": "No version of the operator serves it."})
    return Adoption(basin=basin, **detail, missing=missing)


@router.delete(
    "/{basin}/adoption",
    status_code=204,
    summary="Give an adopted basin back to its operator",
    responses=documented_writing(UnknownBasin, NotAdopted),
)
def release_basin(writer: AdminWriter, basin: BasinId) -> None:
    """It is unofficial again, and belongs to the key that registered it, as does the version that serves it where that
    serves no official basin. Its official alerts end."""
    with writer.database.transaction() as session:
        basin_records.require(session, basin)
        owner = adoption.release(session, basin, writer.clock)
        writer.record(session, "basin released", basin, owner=owner)


@router.post(
    "",
    status_code=202,
    summary="Add a gauge, or add to its metadata",
    responses=documented_posting(NotYours, AgencysName),
)
def post_basin(poster: JobPoster, added: AddedBasin) -> Job:
    """A job asks USGS for the gauge's location, name and drainage area, unless you give them; a basin
    in a namespace of your own needs its place and area. An outline gives the points that its weather is averaged over.
    Known values stay, above all the area used in training a model version."""
    with poster.writer.database.reading() as session:
        service.require_yours(session, poster.writer.key, added.basin)
    return poster.post(BasinJob(params=added), "basin posted")


@router.post(
    "/observations",
    status_code=202,
    summary="Send observations of your own basins",
    description="Daily weather, discharge and snow of the basins that your key registered (an admin's: of every "
    f"user's basin) as a table, at most {LARGEST_UPLOAD // MIB} MiB at once. A job stores all of it or nothing: "
    "follow that job. Its messages call the table as the header `Content-Disposition: attachment; filename=...` does. "
    "Observations of a gauge with a published source, such as USGS, come from that source alone, and those of a "
    "product that a feed fills from that feed, or with an admin's key.",
    responses=documented_posting(UnsupportedMedia, ProductConflict),
    openapi_extra=_UPLOAD,
)
def post_observations(poster: JobPoster, upload: ObservationsUpload, product: OwnProduct = OWN) -> Job:
    writer = poster.writer
    with writer.database.reading() as session:
        permissions.require_free_product(session, permissions.of_key(writer.key), product)

    def job(stored: str, name: str) -> UploadJob:
        return UploadJob(kind="upload", params=UploadParams(observations_file=stored, name=name, product=product))

    return poster.post_file(upload, product, job, "observations posted")
