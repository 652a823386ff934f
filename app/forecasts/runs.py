"""/v1/runs: when and by which model version runs were computed, and their outcome."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from app.exports.answers import JsonAnswer, documented_responses
from app.exports.fields import Listing, documented_list, listing
from app.forecasts.run_schemas import RunDetail, RunPage, detail, summaries
from app.http.conditional import FOR_EVER
from app.http.dependencies import AsKnown, OptionalBasin, OptionalInstant, OptionalVersion, Reading, RunId
from jobspec.fields import DayField
from records.basins import basins
from records.database.stored import as_values
from records.runs import runs
from records.runs.run_types import Purpose, UnknownRun
from records.versions import versions

router = APIRouter(prefix="/runs", tags=["forecasts"])

T0From = Annotated[DayField | None, Query(description="Only with T0 on this day or later.", examples=["2008-04-01"])]
T0To = Annotated[DayField | None, Query(description="Only with T0 on this day or earlier.", examples=["2008-07-31"])]
IssuedAfter = Annotated[
    OptionalInstant,
    Query(description="Only issued after this instant (RFC 3339, with its offset).", examples=["2008-04-21T06:00:00Z"]),
]
WithPurpose = Annotated[Purpose | None, Query(description="Only runs with this purpose.")]


@dataclass(frozen=True, slots=True)
class RunFilters:
    """Filters of the list of runs; None: no filter."""

    basin: OptionalBasin = None
    version: OptionalVersion = None
    purpose: WithPurpose = None
    t0_from: T0From = None
    t0_to: T0To = None
    issued_after: IssuedAfter = None


@router.get("", summary="List forecast runs", **documented_list(RunPage, basins.UnknownBasin, versions.UnknownVersion))
def list_runs(
    session: Reading, filters: Annotated[RunFilters, Depends()], at: AsKnown, page: Annotated[Listing, listing(RunPage)]
) -> Response:
    """The runs that are available by the service's clock, the newest first, a page at a time: follow `next` until it
    is null. With `known_at` those that were available by then; a run never changes."""
    if filters.basin is not None:
        basins.require(session, filters.basin)
    if filters.version is not None:
        versions.get(session, filters.version)
    found = runs.list_runs(session, **as_values(filters), available_by=at, after=page.after, limit=page.sought)
    return page.of(found, summaries)


@router.get("/{run}", summary="Outcome of a run, basin by basin", **documented_responses(RunDetail, UnknownRun))
def read_run(session: Reading, run: RunId, answer: JsonAnswer) -> Response:
    """Time of the run, its model version and weather, and for every basin whether a forecast was issued or why not. A
    run never changes, so it may be cached forever."""
    return answer.of(detail(session, run), cache_control=FOR_EVER)
