"""/v1/basins/{basin}/what-if"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import answered
from app.exports.formats import SERIES
from app.exports.negotiation import SeriesFormat, documented_formats
from app.forecasts.endpoints import DischargeUnits
from app.forecasts.what_if_runs import service, table
from app.forecasts.what_if_runs.schemas import WhatIfOfRun
from app.http.conditional import FOR_EVER, NOT_MODIFIED, SHORTLY, IfNoneMatch
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.discharge_units import NoArea
from app.http.problems import documented
from jobspec.fields import ID
from records.basins.basins import UnknownBasin, sites
from records.runs.runs import UnknownRun

router = APIRouter(prefix="/basins", tags=["forecasts"])

WhatIfRun = Annotated[
    str | None, Query(description="The id of a what-if run; by default the newest of the basin.", pattern=ID)
]


@router.get(
    "/{basin}/what-if",
    summary="A what-if run compared with its base run",
    responses=NOT_MODIFIED | documented(UnknownBasin, UnknownRun, NoArea) | documented_formats(*SERIES),
    response_model=WhatIfOfRun,
    response_model_exclude_unset=True,
)
def read_what_if(
    session: Reading,
    clock: ServiceClock,
    response: Response,
    basin: BasinId,
    chosen: SeriesFormat,
    run: WhatIfRun = None,
    units: DischargeUnits = "m3/s",
    if_none_match: IfNoneMatch = None,
) -> WhatIfOfRun | Response:
    """The discharge of a what-if run and of the run without its changes, day by day; the difference in the volume
    that flows out; and both water balances, in which water added to the basin at T0 is a separate term. A job of
    the kind `what-if` creates such a run, and `/v1/runs?purpose=what-if` lists them. A run never changes, so the answer
    may be cached forever."""
    answer, places = service.compared(session, run, basin, units, clock.now()), sites(session, [basin])
    return answered(
        chosen,
        answer,
        response,
        if_none_match,
        lambda: table.of_what_if(answer, places),
        places,
        wanted=SHORTLY if run is None else FOR_EVER,
    )
