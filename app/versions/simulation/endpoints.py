"""/v1/basins/{basin}/simulation"""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.http.dependencies import BasinId, ChosenVersion, Reading
from app.http.discharge_units import AreaName
from app.http.limits.costs import RequestBudget
from app.versions.simulation import service, table
from app.versions.simulation.schemas import Simulation
from hydrology.base.units import Units
from jobspec.fields import DayField
from records.basins.basins import UnknownArea, UnknownBasin
from records.forecasts.latest import NoModel
from records.simulations.simulated_flow import NotSimulated
from records.versions.versions import UnknownVersion

router = APIRouter(tags=["skill"])

FirstDay = Annotated[
    DayField | None, Query(description="The first day; by default that of the evaluation.", examples=["2008-04-01"])
]
LastDay = Annotated[
    DayField | None, Query(description="The last day; by default that of the evaluation.", examples=["2008-07-31"])
]
FlowUnits = Annotated[Units, Query(description="The unit of both series; the scores are computed in `mm/day`.")]


@router.get(
    "/basins/{basin}/simulation",
    summary="Simulated and observed flow behind the scores of a basin",
    **documented_responses(
        Simulation, UnknownBasin, UnknownVersion, UnknownArea, NoModel, NotSimulated, formats=SERIES
    ),
)
def read_simulation(
    session: Reading,
    basin: BasinId,
    answer: SeriesAnswer,
    version: ChosenVersion = None,
    start: FirstDay = None,
    end: LastDay = None,
    units: FlowUnits = "mm/day",
    area: AreaName = None,
    *,
    budget: RequestBudget,
) -> Response:
    """The daily flow that a model version simulated with observed weather, and the observation, on the days of its
    newest evaluation: every score of `/skill` can be computed from them again. A version that learnt from these days
    itself is scored by its twin."""
    flow = service.part(session, basin, version, start, end)
    budget.spend(2 * (flow.days.stop - flow.days.start), "start", "ask for fewer days.")
    content = service.answer(session, flow, units, area)
    return answer.of_basin(content, table.of_simulation)
