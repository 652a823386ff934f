"""Builds the answers about simulations."""

from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.basins.schemas import kind_of
from app.http.base_schema import Area, Period
from app.http.discharge_units import area_between
from app.http.json_numbers import column, gappy_column
from app.http.problems import refused
from app.versions.simulation.schemas import Simulation
from hydrology.base import calendar
from hydrology.base.calendar import Day
from hydrology.base.errors import counted
from hydrology.base.units import Units, converted
from records.basins import basins
from records.forecasts.latest import asked_version
from records.simulations import simulated_flow
from records.simulations.simulated_flow import SimulatedFlow
from records.versions import versions

STORED: Units = "mm/day"


@dataclass(frozen=True, slots=True)
class SimulationQuery:
    """The requested days of an evaluation's flow.

    Attributes:
        version: the version that was asked for.
        days: positions in the flow.
    """

    version: str
    flow: SimulatedFlow
    days: slice


def part(session: Session, basin: str, version: str | None, start: Day | None, end: Day | None) -> SimulationQuery:
    """Return days of the newest evaluation of a version (by default the current one) in a basin.

    Raises:
        UnknownBasin, UnknownVersion: one of them is not stored.
        NoModel: no version is named, and none is current.
        NotSimulated: neither the version nor its twin was evaluated in the basin.
        Corrupt: the stored flow is damaged.
        InvalidRequest: none of the days was evaluated.
    """
    basins.require(session, basin)
    asked = asked_version(session, basin, version)
    flow = simulated_flow.newest(session, asked.evaluated_as, basin)
    first = flow.period.first if start is None else max(start, flow.period.first)
    last = flow.period.last if end is None else min(end, flow.period.last)
    if last < first:
        field = "end" if start is None else "start"
        raise refused(field, f"none of these days was evaluated: choose some of {flow.period}.")
    begin = int((first - flow.period.first).astype(int))
    return SimulationQuery(asked.id, flow, slice(begin, begin + len(calendar.Period(first, last))))


def answer(session: Session, part: SimulationQuery, units: Units, area_name: str | None) -> Simulation:
    """Return the flow of a basin in a unit.

    Raises:
        UnknownArea: the basin has none of that name.
        InvalidRequest: an area is missing or not needed.
    """
    flow, basin = part.flow, part.flow.basin_id
    area = area_between(session, basin, [STORED], units, area_name, flow.version_id)
    simulated, observed = (
        values if area is None else converted(values, unit=STORED, into=units, area=area)
        for values in (flow.simulated[part.days], flow.observed[part.days])
    )
    shown, days = gappy_column(observed), flow.period.days[part.days]
    missing = {"area": "The flow is as it was scored, in mm/day."} if area is None else {}
    if lacking := shown.count(None):
        missing["observed"] = (
            f"{lacking} of {counted(len(days), 'day has', 'days have')} no observation: no score counts them."
        )
    return Simulation(
        basin=basin,
        basin_kind=kind_of(session, basin),
        version=part.version,
        scored=flow.version_id,
        period=Period.between(flow.period.first, flow.period.last),
        period_use=versions.get(session, flow.version_id).use_of(flow.period, basin),
        evaluated_at=flow.evaluated_at,
        units=units,
        area=None if area is None else Area.of(area),
        time=days.tolist(),
        simulated=column(simulated),
        observed=shown,
        missing=missing,
    )
