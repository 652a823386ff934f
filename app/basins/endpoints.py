"""/v1/basins"""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import AfterValidator

from app.basins import service, table
from app.basins.filters import BoundingBox, Huc, corners
from app.basins.schemas import BasinDetail, BasinPage
from app.basins.state import states
from app.exports.answers import JsonAnswer, PlaceAnswer, PlaceFormat, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.exports.formats import JSON, PLACES
from app.http.dependencies import BasinId, Reading, ServiceClock, optional_full_id
from app.http.pagination import Page
from app.http.problems import refused
from jobspec.fields import BASIN_SCHEMA, Printable
from jobspec.forms import form
from records.basins import basins
from records.basins.basins import UnknownBasin

router = APIRouter(prefix="/basins", tags=["basins"])

Text = Annotated[
    Annotated[str, Printable] | None,
    Query(
        description="Part of the identifier or the name; upper and lower case match.",
        min_length=1,
        max_length=100,
        pattern=form(r"^[^\x00-\x1f]*$", "text without control characters, such as Boise"),
        examples=["fish river"],
    ),
]
BasinCursor = Annotated[
    str | None,
    AfterValidator(optional_full_id),
    Query(
        description="Start after this basin: the last one of the page before.",
        json_schema_extra=BASIN_SCHEMA,
        examples=["USGS-01013500"],
    ),
]
A_PAGE, MAX_BASINS = 100, 1000
Limit = Annotated[
    int | None,
    Query(
        description=f"Maximum number of basins a page; by default {A_PAGE} in JSON and {MAX_BASINS} in a file.",
        ge=1,
        le=MAX_BASINS,
    ),
]


async def _page(
    request: Request, response: Response, chosen: PlaceFormat, after: BasinCursor = None, limit: Limit = None
) -> Page:
    return Page(request, response, after, limit or (A_PAGE if chosen is JSON else MAX_BASINS))


@router.get("", summary="List basins", **documented_responses(schema_of(BasinPage), formats=PLACES))
def list_basins(
    session: Reading,
    clock: ServiceClock,
    page: Annotated[Page, Depends(_page)],
    answer: PlaceAnswer,
    fields: Annotated[FieldFilter, fields_of(BasinPage)],
    q: Text = None,
    huc: Huc = None,
    bbox: BoundingBox = None,
) -> Response:
    """Basins in the order of their identifiers, a page at a time: follow `next` until it is null. A file also contains
    the latest forecast and alert status of each basin. If there are more basins, the file's `Link` header names the
    next page."""
    box = None if bbox is None else corners(bbox)
    rows = basins.list_basins(session, text=q, huc=huc, box=box, after=page.after, limit=page.sought)
    stored, following = page.cut(rows)
    shown = BasinPage(basins=service.summaries(session, stored), next=following)
    if answer.chosen is JSON:
        return answer.of(shown, body=fields.body)
    if fields.include is not None:
        raise refused("fields", "a file has all its columns: leave it out, or ask for JSON.")
    of_page = table.of_basins(shown.basins, states(session, [basin.id for basin in stored], clock.now()))
    return answer.file(of_page.tag, lambda: of_page)


@router.get(
    "/{basin}",
    summary="Metadata, stored series and data quality of a basin",
    **documented_responses(BasinDetail, UnknownBasin),
)
def read_basin(session: Reading, basin: BasinId, answer: JsonAnswer) -> Response:
    """Location, drainage areas (km²), attributes, the stored daily series, the model version behind its forecasts, and
    the data quality findings."""
    return answer.of(service.detail(session, basin))
