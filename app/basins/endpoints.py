"""/v1/basins"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.basins import service, table
from app.basins.filters import BoundingBox, Huc, corners
from app.basins.schemas import BasinDetail, BasinPage
from app.basins.state import states
from app.exports.answers import exported
from app.exports.formats import JSON, PLACES
from app.exports.negotiation import PlaceFormat, documented_formats
from app.http.conditional import NOT_MODIFIED, IfNoneMatch, tagged
from app.http.dependencies import BasinCursor, BasinId, Reading, ServiceClock
from app.http.pagination import next_page
from app.http.problems import documented
from records.basins.basins import UnknownBasin

router = APIRouter(prefix="/basins", tags=["basins"])

Text = Annotated[
    str | None,
    Query(
        description="Part of the identifier or the name; upper and lower case match.",
        min_length=1,
        max_length=100,
        pattern=r"^[^\x00-\x1f]*$",
        examples=["fish river"],
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


@router.get(
    "",
    summary="List basins",
    responses=NOT_MODIFIED | documented() | documented_formats(*PLACES),
    response_model=BasinPage,
)
def list_basins(
    request: Request,
    response: Response,
    session: Reading,
    clock: ServiceClock,
    chosen: PlaceFormat,
    q: Text = None,
    huc: Huc = None,
    bbox: BoundingBox = None,
    after: BasinCursor = None,
    limit: Limit = None,
    if_none_match: IfNoneMatch = None,
) -> BasinPage | Response:
    """Basins in the order of their identifiers, a page at a time: follow `next` until it is null. A file also contains
    the latest forecast and alert status of each basin. If there are more basins, the file's `Link` header names the
    next page."""
    box = None if bbox is None else corners(bbox)
    maximum = limit or (A_PAGE if chosen is JSON else MAX_BASINS)
    found, more = service.page(session, text=q, huc=huc, box=box, after=after, limit=maximum)
    asked = {"q": q, "huc": huc, "bbox": bbox, "limit": maximum, "format": request.query_params.get("format")}
    following = next_page(request, response, asked, found[-1].id if more else None)
    page = BasinPage(basins=found, next=following)
    if chosen is JSON:
        return tagged(page, response, if_none_match)
    of_page = table.of_basins(found, states(session, [basin.id for basin in found], clock.now()))
    return exported(chosen, of_page.tag, if_none_match, lambda: of_page, link=response.headers.get("Link"))


@router.get(
    "/{basin}",
    summary="Metadata, stored series and data quality of a basin",
    responses=NOT_MODIFIED | documented(UnknownBasin),
    response_model=BasinDetail,
)
def read_basin(
    session: Reading, response: Response, basin: BasinId, if_none_match: IfNoneMatch = None
) -> BasinDetail | Response:
    """Location, drainage areas (km²), attributes, the stored daily series, the model version behind its forecasts, and
    the data quality findings."""
    return tagged(service.detail(session, basin), response, if_none_match)
