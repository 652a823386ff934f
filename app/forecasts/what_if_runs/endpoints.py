"""/v1/basins/{basin}/what-if"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import answered
from app.exports.formats import SERIES
from app.exports.negotiation import SeriesFormat, documented_formats
from app.forecasts.discharge import NoArea
from app.forecasts.endpoints import DischargeUnits
from app.forecasts.what_if_runs import service, table
from app.forecasts.what_if_runs.schemas import WhatIfOfRun
from app.http.conditional import FOR_EVER, NOT_MODIFIED, SHORTLY, IfNoneMatch
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.problems import documented
from jobspec.fields import ID
from records.basins.basins import UnknownBasin, sites
from records.runs.runs import UnknownRun

router = APIRouter(prefix="/basins", tags=["forecasts"])

WhatIfRun = Annotated[
    str | None, Query(description="The id of a what-if run; the newest of the basin where none is named.", pattern=ID)
]


@router.get(
    "/{basin}/what-if",
    summary="What would be, beside what is to be expected",
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
    """The discharge of a what-if run and of the run without its changes, day by day; how much more or less water flows
    out; and the water balance of both, in which water that was added to the basin at T0 is a term of its own. A job of
    the kind `what-if` makes such a run, and `/v1/runs?purpose=what-if` lists them. A run never changes, so keep the
    answer as long as you like."""
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
