"""POST /v1/basins, PUT /v1/basins/{basin} and POST /v1/basins/observations"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import AfterValidator

from app.basins import service as basins
from app.basins.schemas import BasinDetail
from app.basins.user_basins import service
from app.basins.user_basins.schemas import OWN, PRODUCT, OwnBasin
from app.basins.user_basins.service import NotYours, TakenNamespace
from app.http.api_keys import By, Operator
from app.http.dependencies import JobSender, OpenDatabase, ServiceClock, ServiceSettings
from app.http.limits.body_limit import LARGEST_UPLOAD, MIB
from app.http.problems import Fault, InvalidRequest, UnsupportedMedia, documented_writing
from app.jobs import service as jobs
from app.jobs.endpoints import POSTED, IdempotencyKey, posted
from app.jobs.schemas import Job
from jobspec.basins import AddedBasin
from jobspec.fields import BASIN_SCHEMA, full_id
from jobspec.jobs.data import BasinJob, UploadJob, UploadParams
from records.access import audit
from records.database.ids import new_id
from records.jobs.job_limits import TooManyUnfinishedJobs
from records.jobs.jobs import IdempotencyConflict
from workers.queue import uploads

router = APIRouter(prefix="/basins", tags=["basins"])

_SUFFIXES = {"text/csv": ".csv", "application/json": ".json"}
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
    responses=_NEW | documented_writing(TakenNamespace, NotYours),
)
def put_basin(
    response: Response,
    key: Operator,
    actor: By,
    database: OpenDatabase,
    clock: ServiceClock,
    basin: OwnBasinId,
    own: OwnBasin,
) -> BasinDetail:
    """Its location, drainage area and attributes, under a namespace of your own (`OWN-mill`). A second request
    changes it, with the key that registered it or an admin's; fields that are left out stay as they were. Its
    observations follow by `POST /v1/basins/observations`."""
    with database.transaction() as session:
        new = service.register(session, key, basin, own, clock.wall())
        audit.record(session, actor, "basin registered" if new else "basin changed", basin, clock.wall())
        shown = basins.detail(session, basin)
    response.status_code = 201 if new else 200
    return shown


@router.post(
    "",
    status_code=202,
    summary="Add a gauge, or add to its metadata",
    responses=POSTED | documented_writing(IdempotencyConflict, TooManyUnfinishedJobs, NotYours),
)
def post_basin(
    response: Response,
    key: Operator,
    actor: By,
    database: OpenDatabase,
    sender: JobSender,
    clock: ServiceClock,
    settings: ServiceSettings,
    added: AddedBasin,
    idempotency_key: IdempotencyKey = None,
) -> Job:
    """A job asks USGS for the gauge's location, name and drainage area, unless you give them; a basin
    in a namespace of your own needs its place and area. An outline gives the points that its weather is averaged over.
    Known values stay, above all the area used in training a model version."""
    with database.reading() as session:
        service.require_yours(session, key, added.basin)
    maximum, job = settings.unfinished_jobs_per_key, BasinJob(params=added)
    stored, created = jobs.post(
        database,
        sender,
        clock,
        key,
        job,
        actor=actor,
        idempotency_key=idempotency_key,
        most_unfinished=maximum,
        action="basin posted",
    )
    return posted(response, stored, created)


async def _content(request: Request, _key: Operator) -> bytes:
    """Return the body; a dependency, because the endpoint writes to disk and may block."""
    return await request.body()


def _suffix(request: Request, _key: Operator) -> str:
    result = request.headers.get("Content-Type", "nothing").partition(";")[0].strip().lower()
    if result not in _SUFFIXES:
        raise UnsupportedMedia(
            "Observations come as text/csv or application/json: name one of them in the Content-Type header."
        )
    return _SUFFIXES[result]


@router.post(
    "/observations",
    status_code=202,
    summary="Send observations of your own basins",
    description="Daily weather, discharge and snow of the basins that your key registered (an admin's: of every "
    f"user's basin) as a table, at most {LARGEST_UPLOAD // MIB} MiB at once. A job stores all of it or nothing: "
    "follow that job. Observations of a gauge with a published source, such as USGS, come from that source alone.",
    responses=POSTED | documented_writing(IdempotencyConflict, TooManyUnfinishedJobs, UnsupportedMedia),
    openapi_extra=_UPLOAD,
)
def post_observations(
    response: Response,
    key: Operator,
    actor: By,
    suffix: Annotated[str, Depends(_suffix)],
    content: Annotated[bytes, Depends(_content)],
    settings: ServiceSettings,
    database: OpenDatabase,
    sender: JobSender,
    clock: ServiceClock,
    product: OwnProduct = OWN,
    idempotency_key: IdempotencyKey = None,
) -> Job:
    if not content.strip():
        raise InvalidRequest([Fault(location="body", field="", detail="it is empty: send a table")])
    # With an idempotency key, the same request again must name the same file.
    request = f"{key.id} {product} {idempotency_key or new_id(clock.wall())}"
    maximum = settings.unfinished_jobs_per_key
    with uploads.stored(settings.data, content, suffix, request) as path:
        upload = UploadJob(kind="upload", params=UploadParams(observations_file=str(path), product=product))
        job, created = jobs.post(
            database,
            sender,
            clock,
            key,
            upload,
            actor=actor,
            idempotency_key=idempotency_key,
            most_unfinished=maximum,
            action="observations posted",
        )
    return posted(response, job, created)
