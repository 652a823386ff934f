"""Basins of users: registering and adopting them, and uploading their observations."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import AfterValidator, Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinDetail, basin_detail
from app.http.api_keys import AdminWriter, KeyFirstRoute, OperatorWriter
from app.http.base_schema import EXPLAINED, Missing, Model
from app.http.dependencies import BasinId
from app.http.limits.body_limit import LARGEST_UPLOAD, MIB
from app.http.problems import Forbidden, UnsupportedMedia, documented_writing
from app.jobs.posting import Job, JobPoster, Upload, documented_posting, upload_of
from hydrology.base.absent import absent
from hydrology.base.basins import has_source, named_agency
from hydrology.base.doc import Why
from hydrology.base.errors import InvalidInput
from hydrology.base.products import PATTERN
from hydrology.base.reasons import Reason
from hydrology.base.units import M2_PER_KM2
from jobspec.fields import BASIN_SCHEMA, Line, RequestModel, examples, form, full_id
from jobspec.jobs.data import BasinJob, UploadJob, UploadParams
from jobspec.levels import CATEGORIES
from jobspec.new_data import AddedBasin, AreaKm2, Attributes, Latitude, Longitude
from records.access.audit import Writer
from records.access.keys import Key
from records.basins import basins, ownership, regions
from records.database.stored import as_values
from records.feeds.feeds import ProductConflict
from records.job_permissions import permissions
from records.runs import states
from records.versions import adoption

OWN = "own"
PRODUCT = form(f"^{PATTERN}$", "1 to 40 small letters, digits or _, a letter first, such as live")
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


class Adoption(Model):
    """A basin that was adopted, and what became official with it."""

    basin: str
    owner: str = Field(description="The operator's key that it belonged to, which can change none of it any more.")
    levels: list[str] = Field(description="The names of the levels that were set.")
    ratings: list[str] = Field(description="The sources of its rating tables.")
    version: Annotated[str | None, Why("No version of the operator serves it.")] = Field(
        description="The operator's version that serves it, now the service's."
    )
    missing: Missing = EXPLAINED


class OwnBasin(RequestModel):
    """A basin of your own."""

    model_config = examples(
        {
            "name": "Mill Creek at the old mill",
            "latitude": 44.085,
            "longitude": -115.622,
            "huc": "1705",
            "area_km2": 118.4,
            "attributes": {"elev_mean": 2012.5, "frac_snow": 0.61},
        }
    )

    name: Line
    latitude: Latitude
    longitude: Longitude
    huc: str | None = Field(
        None, pattern=form("^[0-9]{2,12}$", "2 to 12 digits, such as 0101"), description="Hydrologic unit code."
    )
    area_km2: AreaKm2
    product: str = Field(OWN, pattern=PRODUCT, description="The product that its weather and area are stored under.")
    attributes: Attributes = Field({})


class TakenNamespace(InvalidInput):
    """The basin's namespace is reserved for a published source."""


class NotYours(Forbidden):
    """The basin belongs to another key."""

    kind = "not-your-basin"


class AgencysWords(Forbidden):
    """A name or source stands for an agency: only an administrator states what an agency has declared."""

    kind = "agencys-words"


def require_yours(session: Session, key: Key, basin: str, *, forecasters: bool = False) -> None:
    """Require an admin's key for a basin that another key, or none, registered; a new one is allowed. A forecaster's
    serves, where it may, for a basin that none registered."""
    if key.is_admin or not basins.known(session, [basin]):
        return
    owner = basins.registered_by(session, basin)
    of_service = forecasters and owner is None
    if owner != key.id and not (of_service and key.is_forecaster):
        others = "a forecaster's or an admin's" if of_service else "the key that did, or an admin's"
        raise NotYours(f"{basin} was not registered with this key: use {others}.")


@contextmanager
def own_change(writer: Writer, basin: str, *, forecasters: bool = False) -> Iterator[Session]:
    """Open a transaction in which a key changes a stored basin of its own, or an admin's any."""
    with writer.database.transaction() as session:
        basins.require(session, basin)
        require_yours(session, writer.key, basin, forecasters=forecasters)
        yield session


def require_own_words(key: Key, text: str) -> None:
    """Require an operator's own words: neither an agency nor a flood category."""
    named = named_agency(text) or (text if text.casefold() in CATEGORIES else None)
    if named is not None and not key.is_admin:
        raise AgencysWords(
            f"{text[:64]!r} stands for {named}, for which only an admin's key speaks: choose other words."
        )


def register(session: Session, key: Key, basin: str, own: OwnBasin, at: datetime) -> bool:
    """Store a user basin, and return whether it is new.

    A change of an attribute invalidates the basin's states. Refused are a namespace of a published source, another
    key's basin, one outside the key's region, and an operator's identifier that imitates an agency's or a stored
    basin's.
    """
    if has_source(basin):
        namespace = basin.partition("-")[0]
        raise TakenNamespace(
            f"The namespace {namespace} is reserved for a published source: choose another one, such as OWN-mill."
        )
    if not key.is_admin and not basins.known(session, [basin]):
        ownership.require_free_name(session, basin)
    new = basins.register(session, basin, key.id)
    require_yours(session, key, basin)
    place = own.model_dump(include={"name", "latitude", "longitude", "huc"})
    area = {own.product: own.area_km2 * M2_PER_KM2}
    attributes = own.attributes | {"area_km2": own.area_km2}
    changes = basins.upsert(session, ownership.Basin(basin, **place, areas=area, attributes=attributes))
    regions.require_within(session, key.region, [basin], key=key.name)
    if basins.attributes_revised(session, basin, changes):
        states.invalidate_all(session, basin, absent(Reason.ATTRIBUTE_REVISED), at)
    return new


@router.put(
    "/{basin}",
    summary="Register a basin of your own",
    responses=_NEW | documented_writing(TakenNamespace, NotYours, ownership.AgencysName),
)
def put_basin(response: Response, writer: OperatorWriter, basin: OwnBasinId, own: OwnBasin) -> BasinDetail:
    """Its location, drainage area and attributes, under a namespace of your own (`OWN-mill`). A second request
    changes it, with the key that registered it or an admin's; fields that are left out stay as they were. Its
    observations follow by `POST /v1/basins/observations`. With an operator's key it is unofficial, until an
    administrator adopts it: every answer marks it, and its alerts go to the key's own subscriptions alone. With a key
    for a region it lies there, by its identifier or its `huc`."""
    with writer.database.transaction() as session:
        new = register(session, writer.key, basin, own, writer.now)
        writer.record(session, "basin registered" if new else "basin changed", basin)
        shown = basin_detail(session, basin)
    response.status_code = 201 if new else 200
    return shown


@router.put(
    "/{basin}/adoption",
    summary="Make an operator's basin official",
    responses=documented_writing(basins.UnknownBasin, adoption.AlreadyOfficial),
)
def adopt_basin(writer: AdminWriter, basin: BasinId) -> Adoption:
    """Its levels, its rating and the version that serves it become the service's with it: check them first. The key
    that registered it changes none of them any more. Its alerts begin anew with the next forecast."""
    with writer.database.transaction() as session:
        basins.require(session, basin)
        held = adoption.adopt(session, basin, writer.clock)
        detail = as_values(held, "owner_name")
        writer.record(session, "basin adopted", basin, **detail)
    return Adoption(basin=basin, **detail)


@router.delete(
    "/{basin}/adoption",
    status_code=204,
    summary="Give an adopted basin back to its operator",
    responses=documented_writing(basins.UnknownBasin, adoption.NotAdopted),
)
def release_basin(writer: AdminWriter, basin: BasinId) -> None:
    """It is unofficial again, and belongs to the key that registered it, as does the version that serves it where that
    serves no official basin. Its official alerts end."""
    with writer.database.transaction() as session:
        basins.require(session, basin)
        owner = adoption.release(session, basin, writer.clock)
        writer.record(session, "basin released", basin, owner=owner)


@router.post(
    "",
    status_code=202,
    summary="Add a gauge, or add to its metadata",
    responses=documented_posting(NotYours, ownership.AgencysName),
)
def post_basin(poster: JobPoster, added: AddedBasin) -> Job:
    """A job asks USGS for the gauge's location, name and drainage area, unless you give them; a basin
    in a namespace of your own needs its place and area. An outline gives the points that its weather is averaged over.
    Known values stay, above all the area used in training a model version."""
    key = poster.writer.key
    with poster.writer.database.reading() as session:
        regions.require_within(session, key.region, [added.basin], key=key.name)
        require_yours(session, key, added.basin)
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
