"""Levels of discharge in the units of a run and of its answer, stages by the basin's rating, and return periods."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Annotated, Any

import numpy as np
from pydantic import Field
from sqlalchemy.orm import Session

from app.http.base_schema import Model, Number
from app.http.shown import As
from hydrology.base import units as convert
from hydrology.base.absent import Absent, absent
from hydrology.base.doc import Why
from hydrology.base.reasons import Reason
from hydrology.base.units import M_PER_FT, NoArea, Units
from hydrology.extremes.level_checks import LevelAdvice
from hydrology.extremes.levels import OF_MODEL, Statistic
from hydrology.extremes.return_periods import Bound, ReturnPeriod
from hydrology.uncertainty.exceedance import Direction
from records.basins.ratings import StoredRating
from records.forecasts.latest import Latest
from records.levels import basin_levels
from records.runs import run_types
from records.simulations import simulated_series


@dataclass(frozen=True, slots=True)
class AnsweredLevel:
    """A level of discharge; of the version's own simulation where `of_model`.

    Attributes:
        name: None for a discharge given in the request.
        depth: mm/day; None, with a reason, where the record is too short.
        shown: in the requested unit; None likewise.
    """

    name: str | None
    direction: Direction
    depth: float | None
    shown: float | None
    reason: Absent | None = None
    of_model: bool = False


def levels_of(
    session: Session, latest: Latest, at: datetime | None, units: Units, discharge: float | None = None
) -> Iterator[AnsweredLevel]:
    """Yield the levels set by operators, of the record, and of the version's own simulation; or a rising discharge.

    Without the clock's time `at`, which the latest forecast's answer has, official categories are as they were when the
    run was issued.
    """
    run, basin = latest.run, latest.basin
    if discharge is not None:
        yield AnsweredLevel(None, "rising", _in(basin, discharge, units, "mm/day"), discharge)
        return
    for level in basin_levels.levels_of(session, basin.basin_id, run.issued_at if at is None else None):
        if level.discharge is None or level.unit is None:
            yield AnsweredLevel(level.name, level.direction, None, None, level.reason)
        else:
            yield _level(basin, level.name, level.direction, level.discharge, level.unit, units)
    of_model = simulated_series.get(session, run.version_id, basin.basin_id)
    if of_model is not None:
        floods = basin_levels.flood_frequencies(session, [basin.basin_id])[basin.basin_id].as_asked()
        yield from _of_model(basin, [one for one in of_model.statistics if not floods.compares(one)], units)


def _of_model(basin: run_types.RunBasin, statistics: Sequence[Statistic], units: Units) -> Iterator[AnsweredLevel]:
    for statistic in statistics:
        for named in statistic.levels:
            direction, name = basin_levels.DIRECTIONS[statistic.kind], OF_MODEL + named.name
            if named.level.value is None:
                yield AnsweredLevel(name, direction, None, None, named.level.reason, of_model=True)
            else:
                level = _level(basin, name, direction, named.level.value, simulated_series.UNIT, units)
                yield replace(level, of_model=True)


def _level(
    basin: run_types.RunBasin, name: str, direction: Direction, discharge: float, unit: str, units: Units
) -> AnsweredLevel:
    return AnsweredLevel(name, direction, _in(basin, discharge, unit, "mm/day"), _in(basin, discharge, unit, units))


def _in(basin: run_types.RunBasin, discharge: float, unit: str, into: str) -> float:
    if basin.area is None and "mm/day" in (unit, into) and unit != into:
        raise NoArea(
            f"The run names no drainage area of {basin.basin_id}, so no level can be compared with its depths: ask "
            "for units=mm/day and a discharge."
        )
    (flow,) = convert.converted(np.array([discharge]), unit=unit, into=into, area=basin.area).tolist()
    return float(flow)


class Stage(Model):
    """The stage of a discharge, by the basin's rating of the day."""

    ft: float | None = Field(description="Above the gauge's datum; null for the reason that `reason` gives.")
    m: float | None = Field(description="The same in metres.")
    rating_version: int | None = Field(
        description="The version of the rating that it rests on, in `/v1/basins/{basin}/ratings`; null without one."
    )
    reason: str | None = Field(description="Why it is null; null where it is not.")


StatedAdvice = Annotated[LevelAdvice, As("LevelAdvice", missing=True)]
ADVICE = (
    "What happens and what to do, as the sources of levels state it: of the level furthest out that is likely, and of "
    "the one that is possible, among those of which anything is stated; in an outlook also of the alert's level, where "
    "its chance is lower."
)
NO_RATING = absent(Reason.NO_RATING)


def stage_of(stored: StoredRating | None, discharge: float | None) -> Stage:
    """Return the stage of a discharge, m3/s, or why there is none."""
    if stored is None:
        return Stage(ft=None, m=None, rating_version=None, reason=str(NO_RATING))
    shown = partial(Stage, rating_version=stored.version)
    if discharge is None:
        return shown(ft=None, m=None, reason=str(absent(Reason.NO_STAGE_OF_NOTHING)))
    metres = float(stored.rating.stage(discharge))
    if np.isnan(metres):
        return shown(ft=None, m=None, reason=str(stored.rating.why_no_stage(discharge)))
    return shown(ft=round(metres / M_PER_FT, 3), m=round(metres, 4), reason=None)


YEARS = (
    "Return period of the peak's median height: from the flood of two years on, the mean number of years between years "
    "with a higher flood, below that between independent floods."
)
BOUND = (
    "Whether it is `more` than the number, twice the record's length, or `less` than the number, the most frequent "
    "flood's; null where it is the number."
)
ReturnPeriodBound = Annotated[Bound | None, Why("The return period is the number itself.")]


class WithReturnPeriod(Model):
    """The return period of a peak."""

    return_period_years: Number | None = Field(description=YEARS)
    return_period_bound: ReturnPeriodBound = Field(description=BOUND)

    @property
    def rare(self) -> str | None:
        """The return period in words; None where it is not known, or less than the most frequent flood's."""
        years = self.return_period_years
        return None if years is None else ReturnPeriod(years, self.return_period_bound).rare


def return_period(found: ReturnPeriod | Absent, prefix: str = "") -> dict[str, Any]:
    """Return the fields of a return period, their names after a prefix."""
    parts = (found, found) if isinstance(found, Absent) else (found.years, found.bound)
    return dict(zip((f"{prefix}return_period_years", f"{prefix}return_period_bound"), parts, strict=True))
