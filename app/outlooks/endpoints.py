"""/v1/basins/{basin}/outlook and /v1/outlooks"""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from app.basins.queries import BasinCursor, BoundingBox, Huc, Text, corners
from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.forecasts.discharge import DischargeUnits
from app.http.dependencies import BasinId, ChosenRun, Page, PageLimit, Reading, ServiceClock
from app.outlooks import service
from app.outlooks.schemas import BasinOutlook, OutlookPage
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.outlooks import reader
from records.runs.run_types import UnknownRun

router = APIRouter(tags=["forecasts"])


async def _page(request: Request, response: Response, after: BasinCursor = None, limit: PageLimit = 100) -> Page:
    return Page(request, response, after, limit)


@router.get(
    "/basins/{basin}/outlook",
    summary="Outlook of a basin: flow, peak, threat, change, snow, season, skill",
    **documented_responses(BasinOutlook, UnknownBasin, UnknownRun),
)
def read_outlook(
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    answer: JsonAnswer,
    run: ChosenRun = None,
    units: DischargeUnits = "m3/s",
) -> Response:
    """A basin in short, each number once: the last observed flow; the published distribution of the days ahead,
    adjusted where a forecaster has published that; its peak; the levels that flow may pass, and the alert as it stands;
    the issue before; snow, season and skill; and how fresh the forecast is. Every other answer and page shows these
    numbers. A basin without a forecast has nulls with the reason."""
    return answer.of(service.answer(session, reader.outlook(session, basin, clock.now(), run), units))


@router.get("/outlooks", summary="Outlooks of basins", **documented_responses(schema_of(OutlookPage)))
def list_outlooks(
    session: Reading,
    clock: ServiceClock,
    page: Annotated[Page, Depends(_page)],
    answer: JsonAnswer,
    fields: Annotated[FieldFilter, fields_of(OutlookPage)],
    q: Text = None,
    huc: Huc = None,
    bbox: BoundingBox = None,
    units: DischargeUnits = "m3/s",
) -> Response:
    """Basins in the order of their identifiers, a page at a time: follow `next` until it is null."""
    box = None if bbox is None else corners(bbox)
    rows = basins.list_basins(session, text=q, huc=huc, box=box, after=page.after, limit=page.sought)
    chosen, following = page.cut(rows)
    found = reader.outlooks(session, [basin.id for basin in chosen], clock.now())
    shown = OutlookPage(outlooks=[service.answer(session, one, units) for one in found.values()], next=following)
    return answer.of(shown, body=fields.body)
