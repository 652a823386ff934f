"""/v1/runs"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from app.forecasts.runs import service
from app.forecasts.runs.schemas import RunDetail, RunPage
from app.forecasts.runs.service import RunFilters
from app.http.conditional import FOR_EVER, NOT_MODIFIED, IfNoneMatch, tagged
from app.http.dependencies import (
    IdCursor,
    KnownAt,
    OptionalBasin,
    OptionalInstant,
    OptionalVersion,
    PageLimit,
    Reading,
    RunId,
    ServiceClock,
    as_known,
)
from app.http.pagination import next_page
from app.http.problems import documented
from jobspec.fields import DayField
from records.basins.basins import UnknownBasin
from records.runs.runs import Purpose, UnknownRun
from records.versions.versions import UnknownVersion

router = APIRouter(prefix="/runs", tags=["forecasts"])

T0From = Annotated[DayField | None, Query(description="Only with T0 on this day or later.", examples=["2008-04-01"])]
T0To = Annotated[DayField | None, Query(description="Only with T0 on this day or earlier.", examples=["2008-07-31"])]
IssuedAfter = Annotated[
    OptionalInstant,
    Query(description="Only issued after this instant (RFC 3339, with its offset).", examples=["2008-04-21T06:00:00Z"]),
]
WithPurpose = Annotated[Purpose | None, Query(description="Only runs with this purpose.")]


@router.get("", summary="List forecast runs", responses=documented(UnknownBasin, UnknownVersion))
def list_runs(
    request: Request,
    response: Response,
    session: Reading,
    clock: ServiceClock,
    basin: OptionalBasin = None,
    version: OptionalVersion = None,
    purpose: WithPurpose = None,
    t0_from: T0From = None,
    t0_to: T0To = None,
    issued_after: IssuedAfter = None,
    known_at: KnownAt = None,
    after: IdCursor = None,
    limit: PageLimit = 100,
) -> RunPage:
    """The runs that are available by the service's clock, the newest first, a page at a time: follow `next` until it
    is null. With `known_at` those that were available by then; a run never changes."""
    filters = RunFilters(basin, version, purpose, t0_from, t0_to, issued_after)
    runs, more = service.page(session, filters, at=as_known(clock.now(), known_at), after=after, limit=limit)
    query = {
        "basin": basin,
        "version": version,
        "purpose": purpose,
        "t0_from": t0_from,
        "t0_to": t0_to,
        "issued_after": issued_after,
        "known_at": known_at,
        "limit": limit,
    }
    following = next_page(request, response, query, runs[-1].id if more else None)
    return RunPage(runs=runs, next=following)


@router.get(
    "/{run}",
    summary="Outcome of a run, basin by basin",
    responses=NOT_MODIFIED | documented(UnknownRun),
    response_model=RunDetail,
)
def read_run(
    session: Reading, response: Response, run: RunId, if_none_match: IfNoneMatch = None
) -> RunDetail | Response:
    """Time of the run, its model version and weather, and for every basin whether a forecast was issued or why not. A
    run never changes, so it may be cached forever."""
    return tagged(service.detail(session, run), response, if_none_match, FOR_EVER)
