"""Chances of passing levels, from the calibrated flow of a run to its answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.columns import column
from app.discharge import Units
from app.exceedance.schemas import ExceedanceOfRun, LevelChances
from app.forecasts.discharge import NoArea
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.words import UNITS, number, on
from hydrology import units as convert
from hydrology.probabilistic import chance_of_passing
from jobspec.thresholds import Direction
from records import runs, thresholds
from records.latest import Latest

Array = npt.NDArray[np.float64]
FIXED_UNIT = "m3/s"


@dataclass(frozen=True, slots=True)
class _Level:
    """A level in mm/day and in the unit asked for; None where the record is too short."""

    name: str | None
    direction: Direction
    depth: float | None
    told: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class _Flow:
    """The calibrated flow of a run, mm/day: quantiles (levels, leads) at `levels`, courses (paths, leads)."""

    levels: list[float]
    quantiles: Array
    paths: Array

    def chances(self, depth: float, direction: Direction) -> tuple[list[float], float]:
        """Return the chance of passing a depth on each day, and on any of them."""
        above = chance_of_passing(self.quantiles.T, self.levels, depth)
        of_days = above if direction == "rising" else 1 - above
        passed = self.paths > depth if direction == "rising" else self.paths < depth
        return column(of_days), max(float(passed.any(axis=1).mean()), float(of_days.max()))


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
    days = days_ahead(run)
    series = runs.series_of(session, run.id, basin.basin_id, (runs.CALIBRATED, runs.PATHS))
    chances, missing = None, missing_in_header(basin)
    if runs.PATHS in series and basin.status == "issued":
        quantiles = series[runs.CALIBRATED]
        flow = _Flow(
            list(quantiles.axes["level"]),
            quantiles.values.astype(np.float64),
            series[runs.PATHS].values.astype(np.float64),
        )
        levels = _levels(session, basin, units) if discharge is None else _asked(basin, units, discharge)
        chances = [_told(flow, level, days["time"][-1], units) for level in levels]
    else:
        missing["levels"] = basin.why_not_calibrated
    return ExceedanceOfRun(**header(latest, at), **days, units={"discharge": units}, levels=chances, missing=missing)


def _asked(basin: runs.RunBasin, units: Units, discharge: float) -> Iterator[_Level]:
    yield _Level(None, "rising", _in(basin, discharge, units, "mm/day"), discharge)


def _levels(session: Session, basin: runs.RunBasin, units: Units) -> Iterator[_Level]:
    """Yield the levels that operators set, and those of the record."""
    for fixed in thresholds.of_basin(session, basin.basin_id):
        yield _level(basin, fixed.name, fixed.direction, fixed.discharge, FIXED_UNIT, units)
    record = thresholds.of_record(session, basin.basin_id)
    for statistic in record.statistics:
        for named in statistic.levels:
            direction = thresholds.DIRECTIONS[statistic.kind]
            if named.level.value is None or record.unit is None:
                yield _Level(named.name, direction, None, None, named.level.reason)
            else:
                yield _level(basin, named.name, direction, named.level.value, record.unit, units)


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


def _told(flow: _Flow, level: _Level, last: date, units: Units) -> LevelChances:
    if level.depth is None or level.told is None:
        return LevelChances(
            name=level.name,
            discharge=None,
            direction=level.direction,
            chance=None,
            within=None,
            in_words=None,
            reason=level.reason,
        )
    of_days, within = flow.chances(level.depth, level.direction)
    (told,) = column(np.array([level.told]))
    return LevelChances(
        name=level.name,
        discharge=told,
        direction=level.direction,
        chance=of_days,
        within=within,
        in_words=_sentence(level, within, last, units),
        reason=None,
    )


def _sentence(level: _Level, within: float, last: date, units: Units) -> str:
    assert level.told is not None
    flow = f"{number(level.told)} {UNITS[units]}"
    what = flow if level.name is None else f"{level.name} ({flow})"
    way = "rises above" if level.direction == "rising" else "falls below"
    return f"{_chance(within)} that flow {way} {what} by {on(last)}."


def _chance(chance: float) -> str:
    if chance <= 0.01:
        return "A chance of 1 in 100 or less"
    if chance >= 0.99:
        return "A chance of 99 in 100 or more"
    if chance < 0.5:
        return f"A chance of 1 in {round(1 / chance)}"
    return f"A chance of {round(10 * chance)} in 10" if chance < 0.95 else f"A chance of {round(100 * chance)} in 100"
