"""/v1/basins/{basin}/what-if"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts.discharge import DischargeUnits
from app.forecasts.what_if_runs import service, table
from app.forecasts.what_if_runs.schemas import WhatIfOfRun
from app.http.conditional import FOR_EVER, SHORTLY
from app.http.dependencies import KnownBasin, Reading, ServiceClock
from app.http.discharge_units import NoArea
from jobspec.fields import ID
from records.basins.basins import UnknownBasin
from records.runs.run_types import UnknownRun

router = APIRouter(prefix="/basins", tags=["forecasts"])

WhatIfRun = Annotated[
    str | None, Query(description="The id of a what-if run; by default the newest of the basin.", pattern=ID)
]


@router.get(
    "/{basin}/what-if",
    summary="A what-if run compared with its base run",
    **documented_responses(WhatIfOfRun, UnknownBasin, UnknownRun, NoArea, formats=SERIES),
)
def read_what_if(
    session: Reading,
    clock: ServiceClock,
    answer: SeriesAnswer,
    basin: KnownBasin,
    run: WhatIfRun = None,
    units: DischargeUnits = "m3/s",
) -> Response:
    """The discharge of a what-if run and of the run without its changes, day by day; the difference in the volume
    that flows out; and both water balances, in which water added to the basin at T0 is a separate term. A job of
    the kind `what-if` creates such a run, and `/v1/runs?purpose=what-if` lists them. A run never changes, so the answer
    may be cached forever."""
    shown = service.compared(session, run, basin, units, clock.now())
    return answer.of_basin(shown, table.of_what_if, cache_control=SHORTLY if run is None else FOR_EVER)
