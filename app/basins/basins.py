"""/v1/basins: metadata of basins, their stored data and current status."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response
from sqlalchemy.orm import Session

from app.basins.queries import BasinCursor, BoundingBox, Huc, Text, corners
from app.basins.schemas import BasinDetail, BasinPage, BasinSummary, basin_detail, basin_summaries
from app.exports.answers import JsonAnswer, PlaceAnswer, PlaceFormat, documented_responses
from app.exports.fields import FieldFilter, fields_of, schema_of
from app.exports.formats import JSON, PLACES
from app.exports.table import Column, Table
from app.exports.table import Kind as ColumnKind
from app.http.dependencies import BasinId, Page, Reading, ServiceClock
from app.http.json_numbers import rounded
from app.http.problems import refused
from hydrology.base.absent import text
from hydrology.base.calendar import age_days, as_date
from records.basins import basins
from records.basins.basins import UnknownBasin
from records.outlooks import reader
from records.outlooks.reader import Outlook

router = APIRouter(prefix="/basins", tags=["basins"])

A_PAGE, MAX_BASINS = 100, 1000
Limit = Annotated[
    int | None,
    Query(
        description=f"Maximum number of basins a page; by default {A_PAGE} in JSON and {MAX_BASINS} in a file.",
        ge=1,
        le=MAX_BASINS,
    ),
]

State = dict[str, Any]
"""Values by name, as `app.basins.basins` describes them; one that is not known is left out."""


def states(session: Session, basins: Sequence[str], at: datetime) -> list[State]:
    """Return the status of basins at an instant, in their order."""
    return [_state(outlook) for outlook in reader.outlooks(session, basins, at).values()]


def _state(outlook: Outlook) -> State:
    severity = None if outlook.alert is None else outlook.alert.alert.severity
    if outlook.forecast is None:
        return {"alert": severity, "reason": text(outlook.freshness.reason)}
    run, flow = outlook.forecast.run, outlook.peak_m3s
    return {
        "run": run.id,
        "version": run.version_id,
        "awaited_version": outlook.freshness.awaited,
        "t0": as_date(run.t0),
        "issued_at": run.issued_at,
        "age_days": age_days(run.t0, outlook.at),
        "stale": outlook.freshness.state == "stale",
        "peak": None if flow is None else rounded(flow),
        "peak_day": outlook.peak_day,
        "alert": severity,
    }


_STATE: tuple[tuple[str, ColumnKind, str, str | None], ...] = (
    ("run", "text", "identifier of the latest forecast's run", None),
    ("version", "text", "identifier of its model version", None),
    ("awaited_version", "text", "promoted version that has issued no forecast yet", None),
    ("t0", "day", "last day of weather in the initial state", None),
    ("issued_at", "instant", "when it was issued", None),
    ("age_days", "integer", "days that t0 lies behind the service's clock", None),
    ("stale", "truth", "whether a newer forecast is overdue", None),
    ("peak", "number", "highest of the days ahead, the median over its paths; none where flow falls", "m3/s"),
    ("peak_day", "day", "that day", None),
    ("alert", "text", "highest severity of the basin's alerts", None),
    ("reason", "text", "why there is no forecast", None),
)


def _table(basins: Sequence[BasinSummary], states: Sequence[State]) -> Table:
    areas = [basin.area for basin in basins]
    columns = [
        Column("basin", "identifier of the basin", "text", [basin.id for basin in basins]),
        Column("name", "name of the basin", "text", [basin.name for basin in basins]),
        Column("latitude", "latitude of the gauge", "number", [basin.latitude for basin in basins], "degrees_north"),
        Column("longitude", "longitude of the gauge", "number", [basin.longitude for basin in basins], "degrees_east"),
        Column("kind", "what the basin is", "text", [basin.kind for basin in basins]),
        Column("huc", "hydrologic unit code", "text", [basin.huc for basin in basins]),
        Column("area", "drainage area that converts flow", "number", [area and area.km2 for area in areas], "km2"),
        Column("area_source", "source of the area", "text", [area and area.name for area in areas]),
    ]
    for name, kind, meaning, unit in _STATE:
        columns.append(Column(name, meaning, kind, [state.get(name) for state in states], unit))
    return Table("basins", "Basins", columns)


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
    shown = BasinPage(basins=basin_summaries(session, stored), next=following)
    if answer.chosen is JSON:
        return answer.of(shown, body=fields.body)
    if fields.include is not None:
        raise refused("fields", "a file has all its columns: leave it out, or ask for JSON.")
    of_page = _table(shown.basins, states(session, [basin.id for basin in stored], clock.now()))
    return answer.file(of_page.tag, lambda: of_page)


@router.get(
    "/{basin}",
    summary="Metadata, stored series and data quality of a basin",
    **documented_responses(BasinDetail, UnknownBasin),
)
def read_basin(session: Reading, basin: BasinId, answer: JsonAnswer) -> Response:
    """Location, drainage areas (km²), attributes, the stored daily series, the model version behind its forecasts, and
    the data quality findings."""
    return answer.of(basin_detail(session, basin))
