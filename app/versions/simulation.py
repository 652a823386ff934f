"""/v1/basins/{basin}/simulation: the flow behind the scores of a model version."""

from collections.abc import Mapping
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import RIVER_FLOW, Table, table_of
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Area, Missing, OfBasin, Period, Series, column
from app.http.dependencies import AreaName, BasinId, ChosenVersion, Reading, area_between
from app.http.limits.costs import RequestBudget
from app.http.problems import refused
from app.versions.scores import SCORED, USE
from hydrology.base import calendar
from hydrology.base.doc import Why
from hydrology.base.errors import counted
from hydrology.base.units import Units, converted
from hydrology.verification.held_out_years import PeriodUse
from jobspec.fields import DayField
from records.basins.basins import Site, UnknownArea, UnknownBasin
from records.forecasts.latest import NoModel, asked_version
from records.simulations import simulated_series
from records.simulations.simulated_series import NotSimulated, SimulatedFlow
from records.versions import versions

router = APIRouter(tags=["skill"])

STORED: Units = "mm/day"
_flow = partial(Series, standard_name=RIVER_FLOW, cell_methods="time: mean")
FirstDay = Annotated[
    DayField | None, Query(description="The first day; by default that of the evaluation.", examples=["2008-04-01"])
]
LastDay = Annotated[
    DayField | None, Query(description="The last day; by default that of the evaluation.", examples=["2008-07-31"])
]
FlowUnits = Annotated[Units, Query(description="The unit of both series; the scores are computed in `mm/day`.")]


class Evaluation(OfBasin):
    """What a version was evaluated on in a basin."""

    basin_kind: BasinKind
    version: Annotated[str, Series("identifier of the model version")] = Field(description="The model version.")
    scored: Annotated[str, Series("the version whose simulation this is")] = Field(description=SCORED)
    period: Period = Field(description="The days of the evaluation.")
    period_use: Annotated[PeriodUse, Series("use of the days in the scored version's training")] = Field(
        description=USE
    )
    evaluated_at: Annotated[datetime, Series("when it was computed")]


class Simulation(Evaluation):
    """Simulated and observed flow of a basin, from which its scores are computed."""

    units: Units = Field(description="The unit of both series.")
    area: Annotated[Area | None, Why("The flow is as it was scored, in mm/day.")] = Field(
        description="The drainage area used to convert them; null in mm/day."
    )
    time: Annotated[list[date], Series("day")] = Field(description="The requested days of the period, by default all.")
    simulated: Annotated[list[float], _flow("simulated discharge, mean of the members")] = Field(
        description=column("The mean of the members, driven by observed weather")
    )
    observed: Annotated[list[float | None], _flow("observed discharge")] = Field(
        description=column("The observation that the scores compare it with, null where there is none")
    )
    missing: Missing = EXPLAINED


def newest_evaluation(session: Session, basin: str, version: str | None) -> tuple[SimulatedFlow, dict[str, Any]]:
    """Return the flow of a version's newest evaluation in a basin, and the other fields of `Evaluation`."""
    asked = asked_version(session, basin, version)
    flow = simulated_series.newest_flow(session, asked.evaluated_as, basin)
    use = versions.get(session, flow.version_id).use_of(flow.period, basin)
    kind = kind_of(session, basin)
    return flow, {"basin_kind": kind, "version": asked.id, "scored": flow.version_id, "period_use": use}


def evaluated_days(flow: SimulatedFlow, start: calendar.Day | None, end: calendar.Day | None) -> slice:
    """Return the positions of requested days in an evaluation's flow."""
    first = flow.period.first if start is None else max(start, flow.period.first)
    last = flow.period.last if end is None else min(end, flow.period.last)
    if last < first:
        field = "end" if start is None else "start"
        raise refused(field, f"none of these days was evaluated: choose some of {flow.period}.")
    begin = int((first - flow.period.first).astype(int))
    return slice(begin, begin + len(calendar.Period(first, last)))


def simulation_of(
    session: Session,
    flow: SimulatedFlow,
    evaluation: dict[str, Any],
    days: slice = slice(None),
    *,
    units: Units = STORED,
    area_name: str | None = None,
) -> Simulation:
    """Return an evaluation's flow on some days, positions in the flow, in a unit."""
    area = area_between(session, flow.basin_id, [STORED], units, area_name, flow.version_id)
    simulated, observed = (
        values[days] if area is None else converted(values[days], unit=STORED, into=units, area=area)
        for values in (flow.simulated, flow.observed)
    )
    shown = json_numbers.gappy_column(observed)
    missing = {}
    if lacking := shown.count(None):
        missing["observed"] = (
            f"{lacking} of {counted(len(shown), 'day has', 'days have')} no observation: no score counts them."
        )
    return Simulation.from_records(
        flow,
        **evaluation,
        units=units,
        area=area,
        time=flow.period.days[days].tolist(),
        simulated=json_numbers.column(simulated),
        observed=shown,
        missing=missing,
    )


def simulation_table(answer: Simulation, sites: Mapping[str, Site]) -> Table:
    name = f"{answer.basin}_simulation_{answer.scored}_{answer.time[0]}_{answer.time[-1]}"
    return table_of(answer, name, f"Simulated and observed flow of {answer.basin}", sites)


@router.get(
    "/basins/{basin}/simulation",
    summary="Simulated and observed flow behind the scores of a basin",
    **documented_responses(
        Simulation, UnknownBasin, versions.UnknownVersion, UnknownArea, NoModel, NotSimulated, formats=SERIES
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
    flow, evaluation = newest_evaluation(session, basin, version)
    days = evaluated_days(flow, start, end)
    budget.spend(2 * (days.stop - days.start), "start", "ask for fewer days.")
    return answer.of_basin(
        simulation_of(session, flow, evaluation, days, units=units, area_name=area), simulation_table
    )
