"""Chances of passing levels, from the calibrated flow of a run to its answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.columns import column
from app.discharge import Units
from app.exceedance.schemas import ExceedanceOfRun, FlowOf, LevelChances
from app.forecasts.discharge import NoArea
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.words import UNITS, number, on
from hydrology import units as convert
from hydrology.passing import Direction, FlowAhead
from hydrology.thresholds import OF_MODEL, Statistic
from records import model_levels, runs, thresholds
from records.latest import Latest

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Level:
    """A level in mm/day and in the unit asked for; None where the record is too short."""

    name: str | None
    direction: Direction
    depth: float | None
    told: float | None
    reason: str | None = None
    flow: FlowOf = "calibrated"


@dataclass(frozen=True, slots=True)
class _Calibrated:
    """The calibrated flow of a run, mm/day."""

    flow: FlowAhead

    def chances(self, depth: float, direction: Direction) -> tuple[Array, float]:
        """Return the chance of passing a depth on each day, and on any of them."""
        return self.flow.chances(depth, direction)

    def sentence(self, within: float, what: str, direction: Direction, last: date) -> str:
        """Say how likely a level is passed."""
        way = "rises above" if direction == "rising" else "falls below"
        return f"{_chance(within)} that flow {way} {what} by {on(last)}."


@dataclass(frozen=True, slots=True)
class _Members:
    """The flow of every member with every trace of weather, as it is, (members, leads) in mm/day."""

    flow: Array

    def chances(self, depth: float, direction: Direction) -> tuple[Array, float]:
        """Return the share that passes a depth on each day, and on any of them."""
        passed = _passed(self.flow, depth, direction)
        return passed.mean(axis=0), float(passed.any(axis=1).mean())

    def sentence(self, within: float, what: str, direction: Direction, last: date) -> str:
        """Say how many pass a level."""
        way = "rises above" if direction == "rising" else "falls below"
        return f"The flow of {round(within * len(self.flow))} of {len(self.flow)} members {way} {what} by {on(last)}."


_Flow = _Calibrated | _Members
_Flows = Mapping[FlowOf, _Flow | str]
"""The flow that levels are held against, or why there is none."""


def exceedance(
    session: Session, latest: Latest, at: datetime | None, units: Units, discharge: float | None
) -> ExceedanceOfRun:
    """Return the chances; `at` is the clock's time for a latest answer.

    Args:
        discharge: a level in `units`; the basin's own levels where it is None.

    Raises:
        NoArea: the run names no area, and levels are in another unit than its depths.
    """
    run, basin = latest.run, latest.basin
    days, flows = days_ahead(run), _flows(session, run, basin)
    levels = _levels(session, run, basin, units) if discharge is None else _asked(basin, units, discharge)
    return ExceedanceOfRun(
        **header(latest, at),
        **days,
        units={"discharge": units},
        levels=[_told(flows, level, days["time"][-1], units) for level in levels],
        missing=missing_in_header(basin),
    )


def _flows(session: Session, run: runs.Run, basin: runs.RunBasin) -> _Flows:
    series = runs.series_of(session, run.id, basin.basin_id, ("discharge", runs.CALIBRATED, runs.PATHS))
    flows: dict[FlowOf, _Flow | str] = {"calibrated": basin.why_not_calibrated, "members": basin.why_missing}
    if basin.status != "issued":
        return flows
    if (calibrated := runs.calibrated_flow(series)) is not None:
        flows["calibrated"] = _Calibrated(calibrated)
    if "discharge" in series:
        members = series["discharge"].values
        flows["members"] = _Members(members.reshape(-1, members.shape[-1]).astype(np.float64))
    return flows


def _passed(flow: Array, depth: float, direction: Direction) -> npt.NDArray[np.bool_]:
    return flow > depth if direction == "rising" else flow < depth


def _asked(basin: runs.RunBasin, units: Units, discharge: float) -> Iterator[_Level]:
    yield _Level(None, "rising", _in(basin, discharge, units, "mm/day"), discharge)


def _levels(session: Session, run: runs.Run, basin: runs.RunBasin, units: Units) -> Iterator[_Level]:
    """Yield the levels that operators set, those of the record, and those of the version's own simulation."""
    for level in thresholds.levels_of(session, basin.basin_id):
        if level.discharge is None or level.unit is None:
            yield _Level(level.name, level.direction, None, None, level.reason)
        else:
            yield _level(basin, level.name, level.direction, level.discharge, level.unit, units)
    of_model = model_levels.get(session, run.version_id, basin.basin_id)
    if of_model is not None:
        yield from _of_model(basin, of_model.statistics, units)


def _of_model(basin: runs.RunBasin, statistics: Sequence[Statistic], units: Units) -> Iterator[_Level]:
    for statistic in statistics:
        for named in statistic.levels:
            direction, name = thresholds.DIRECTIONS[statistic.kind], OF_MODEL + named.name
            if named.level.value is None:
                yield _Level(name, direction, None, None, named.level.reason, "members")
            else:
                level = _level(basin, name, direction, named.level.value, model_levels.UNIT, units)
                yield replace(level, flow="members")


def _level(basin: runs.RunBasin, name: str, direction: Direction, discharge: float, unit: str, units: Units) -> _Level:
    return _Level(name, direction, _in(basin, discharge, unit, "mm/day"), _in(basin, discharge, unit, units))


def _in(basin: runs.RunBasin, discharge: float, unit: str, into: str) -> float:
    area = None
    if "mm/day" in (unit, into) and unit != into:
        if basin.area_m2 is None or basin.area_name is None:
            raise NoArea(
                f"The run names no drainage area of {basin.basin_id}, so no level can be compared with its depths: ask "
                "for units=mm/day and a discharge."
            )
        area = convert.Area(basin.area_name, basin.area_m2)
    (flow,) = convert.converted(np.array([discharge]), unit=unit, into=into, area=area).tolist()
    return float(flow)


def _told(flows: _Flows, level: _Level, last: date, units: Units) -> LevelChances:
    flow = flows[level.flow]
    told = LevelChances(
        name=level.name,
        discharge=None if level.told is None else column(np.array([level.told]))[0],
        direction=level.direction,
        flow=level.flow,
        chance=None,
        within=None,
        in_words=None,
        reason=level.reason,
    )
    if level.depth is None or level.told is None:
        return told
    if isinstance(flow, str):
        return told.model_copy(update={"reason": flow})
    of_days, within = flow.chances(level.depth, level.direction)
    discharge = f"{number(level.told)} {UNITS[units]}"
    what = discharge if level.name is None else f"{level.name} ({discharge})"
    sentence = flow.sentence(within, what, level.direction, last)
    return told.model_copy(update={"chance": column(of_days), "within": within, "in_words": sentence})


def _chance(chance: float) -> str:
    if chance <= 0.01:
        return "A chance of 1 in 100 or less"
    if chance >= 0.99:
        return "A chance of 99 in 100 or more"
    if chance < 0.5:
        return f"A chance of 1 in {round(1 / chance)}"
    return f"A chance of {round(10 * chance)} in 10" if chance < 0.95 else f"A chance of {round(100 * chance)} in 100"
