"""/v1/basins/{basin}/simulation and /events: flow and events behind the scores of a model version."""

from collections.abc import Mapping
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.schemas import BasinKind, kind_of
from app.exports.answers import JsonAnswer, SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import RIVER_FLOW, Table, table_of
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Area, Missing, Model, OfBasin, Period, Series, column
from app.http.dependencies import OF_VERSION, AreaName, BasinId, ChosenVersion, Reading, area_between
from app.http.json_numbers import rounded
from app.http.limits.costs import RequestBudget
from app.http.problems import refused
from app.http.shown import As
from app.versions.scores import SCORED, USE
from app.versions.verification import OfSeason
from hydrology.base import calendar
from hydrology.base.doc import Why
from hydrology.base.errors import counted
from hydrology.base.units import Units, converted
from hydrology.scores.events import MIN_APART, VALLEY, WINDOW, Event, EventPair, EventScores, match_events
from hydrology.verification.held_out_years import PeriodUse
from hydrology.verification.results import ALL_YEAR, HIGH_SHARE, SEASONS, Season, high_flow
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


events_router = APIRouter(tags=["skill"])


class EventDays(Model):
    """An event of a hydrograph."""

    start: date = Field(description="The first day above the threshold.")
    peak: date
    end: date = Field(description="The last day above the threshold.")
    height_mm_per_day: float = Field(description="Mean flow on the day of the peak.")


class EventCase(Model):
    """An observed event and its simulation: a missed event has no simulated one, a false alarm no observed one."""

    observed: EventDays | None
    simulated: EventDays | None
    volume_observed_mm: float = Field(description="Observed flow over the days of either event.")
    volume_simulated_mm: float = Field(description="Simulated flow over these days.")
    errors: dict[str, float] | None = Field(description="By the names of `scores.errors`; null without a match.")


class EventRules(Model):
    """How events are cut and matched."""

    threshold_mm_per_day: float = Field(
        description=f"Flow exceeded on {100 * HIGH_SHARE:g} % of the observed days of the evaluation."
    )
    days_apart: int = Field(description="Days between two independent peaks, at least.")
    valley_share: float = Field(description="Between them flow falls below this share of the lower peak.")
    window_days: int = Field(description="Days between the peaks of a match, at most.")


class Events(Evaluation):
    """The events of a basin as a model version simulates them with observed weather."""

    season: Season
    rules: EventRules
    scores: Annotated[EventScores, As("EventSummary")]
    events: list[EventCase] = Field(description="By the day of the peak.")
    missing: Missing = EXPLAINED


def events_of(session: Session, basin: str, version: str | None, season: Season) -> Events:
    """Return the events of a version (by default the current one) in a basin."""
    flow, evaluation = newest_evaluation(session, basin, version)
    days, observed = flow.period.days, flow.observed.astype(np.float64)
    if not np.isfinite(observed).any():
        raise NotSimulated(
            f"{basin} has no observed flow on the days of its evaluation, {flow.period}: ingest its streamflow and "
            "evaluate the version again."
        )
    threshold = high_flow(observed)
    pairs = match_events(flow.simulated.astype(np.float64), observed, threshold)
    chosen = [pair for pair in pairs if int(calendar.month(days[pair.peak])) in SEASONS[season]]
    return Events.from_records(
        flow,
        **evaluation,
        season=season,
        rules=EventRules(
            threshold_mm_per_day=rounded(threshold), days_apart=MIN_APART, valley_share=VALLEY, window_days=WINDOW
        ),
        scores=EventScores.of(chosen),
        events=[_case(pair, days) for pair in chosen],
    )


def _case(pair: EventPair, days: calendar.Days) -> EventCase:
    errors = pair.errors
    return EventCase(
        observed=_days(pair.observed, days),
        simulated=_days(pair.simulated, days),
        volume_observed_mm=rounded(pair.volume_observed),
        volume_simulated_mm=rounded(pair.volume_simulated),
        errors=None if errors is None else {name: rounded(error) for name, error in errors.items()},
    )


def _days(event: Event | None, days: calendar.Days) -> EventDays | None:
    if event is None:
        return None
    start, peak, end = (calendar.as_date(days[at]) for at in (event.start, event.peak, event.end))
    return EventDays(start=start, peak=peak, end=end, height_mm_per_day=rounded(event.height))


@events_router.get(
    "/basins/{basin}/events",
    summary="Scores of the events of a basin: time, height, volume and onset of peaks",
    **documented_responses(Events, *OF_VERSION, NotSimulated),
)
def read_events(
    session: Reading, basin: BasinId, answer: JsonAnswer, version: ChosenVersion = None, season: OfSeason = ALL_YEAR
) -> Response:
    """Events cut from the observed and the simulated hydrograph of the newest evaluation, matched, with the errors of
    each; missed events and false alarms. The season is that of the peak. An event beside a gap is left out."""
    return answer.of(events_of(session, basin, version, season))
