"""/v1/basins"""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response

from app.basins import service
from app.basins.schemas import BasinDetail, BasinPage
from app.dependencies import BasinCursor, BasinId, Reading
from app.problems import documented
from records.basins import UnknownBasin

router = APIRouter(prefix="/basins", tags=["basins"])

Text = Annotated[
    str | None,
    Query(
        description="A part of the identifier or the name, in any case.",
        min_length=1,
        max_length=100,
        pattern=r"^[^\x00-\x1f]*$",
        examples=["fish river"],
    ),
]
Huc = Annotated[
    str | None,
    Query(description="The beginning of the hydrologic unit code.", pattern="^[0-9]{1,12}$", examples=["01"]),
]
Limit = Annotated[int, Query(description="At most so many basins a page.", ge=1, le=1000)]


@router.get("", summary="Which basins there are", responses=documented())
def list_basins(
    request: Request,
    response: Response,
    session: Reading,
    q: Text = None,
    huc: Huc = None,
    after: BasinCursor = None,
    limit: Limit = 100,
) -> BasinPage:
    """Basins in the order of their identifiers, a page at a time: follow `next` until it is null."""
    found, more = service.page(session, text=q, huc=huc, after=after, limit=limit)
    following = None
    if more:
        asked = {"q": q, "huc": huc, "limit": limit, "after": found[-1].id}
        given = {name: value for name, value in asked.items() if value is not None}
        following = f"{request.url.path}?{urlencode(given)}"
        response.headers["Link"] = f'<{following}>; rel="next"'
    return BasinPage(basins=found, next=following)


@router.get("/{basin}", summary="What is known of a basin", responses=documented(UnknownBasin))
def read_basin(session: Reading, basin: BasinId) -> BasinDetail:
    """Place, drainage areas (km²), attributes, the daily series that are kept, the model version that its forecasts
    come from, and what was found wrong or odd in its data."""
    return service.detail(session, basin)
