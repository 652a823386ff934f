"""Discharge of a run in the requested unit: raw and calibrated quantiles."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import Depends, Query

from app.forecasts.calibration_schemas import Calibration, Recalibration
from app.forecasts.schemas import Columns
from app.http.dependencies import AsKnown
from app.http.discharge_units import NoArea
from app.http.json_numbers import column
from hydrology.base import units as convert
from hydrology.base.absent import known
from hydrology.base.units import Units
from hydrology.uncertainty.recalibration import weight_of
from records.runs import run_arrays, run_types

Array = npt.NDArray[np.float64]
DischargeUnits = Annotated[
    Units, Query(description="The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.")
]
WithMembers = Annotated[bool, Query(description="Whether to include every member and the cells at T0.")]

ANSWER_LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""The levels of the calibrated quantiles in an answer."""


@dataclass(frozen=True, slots=True)
class Representation:
    """The requested form of a forecast.

    Attributes:
        units: of discharge.
        members: whether to include all members.
        at: the clock's time, by which a latest answer states its age; None for a run asked for by its id.
    """

    units: Units
    members: bool
    at: datetime | None = None


async def _of_latest(at: AsKnown, units: DischargeUnits = "m3/s", members: WithMembers = False) -> Representation:
    return Representation(units, members, at)


async def _of_run(units: DischargeUnits = "m3/s", members: WithMembers = False) -> Representation:
    return Representation(units, members)


LatestForm = Annotated[Representation, Depends(_of_latest)]
RunForm = Annotated[Representation, Depends(_of_run)]


def quantile_columns(
    quantiles: run_arrays.RunSeries, basin: run_types.RunBasin, representation: Representation
) -> Columns:
    """Return the quantiles of discharge (levels, leads) as columns in a unit."""
    names = [level_name(level) for level in quantiles.axes["level"]]
    rows = in_units(quantiles.values, basin, representation.units)
    return {name: column(row) for name, row in zip(names, rows, strict=True)}


def level_name(level: float) -> str:
    """Return the name of the quantile at a level from 0 to 1."""
    return "median" if level == 0.5 else f"p{round(100 * level):02}"


def calibrated_columns(
    stored: run_arrays.RunSeries | None, basin: run_types.RunBasin, representation: Representation
) -> Columns | None:
    """Return the calibrated quantiles as columns; None where there are none."""
    if stored is None:
        return None
    levels = stored.axes["level"]
    shown = replace(
        stored, axes={"level": ANSWER_LEVELS}, values=stored.values[[levels.index(level) for level in ANSWER_LEVELS]]
    )
    return quantile_columns(shown, basin, representation)


def calibration_of(run: run_types.Run, basin: run_types.RunBasin, representation: Representation) -> Calibration | None:
    """Return the error model and last observation behind the calibrated quantiles."""
    used = known(basin.summary.calibration)
    if used is None:
        return None
    last: list[float | None] = [None, None]
    if used.last_flow_mm is not None:
        last = [*column(in_units(np.array([used.last_flow_mm, used.simulated_mm]), basin, representation.units))]
    recalibration = None
    if run.weather is not None:
        of = run.weather.recalibration
        recalibration = Recalibration(
            fitted_on=of.fitted_on,
            issue_days=of.issue_days,
            reforecast_days=of.reforecast_days,
            weight=weight_of(of.issue_days),
            centre=of.centre,
            spread=of.spread,
        )
    return Calibration(
        kind=used.kind,
        hash=used.sha256,
        weather=used.weather,
        weather_issues=used.weather_issues,
        recalibration=recalibration,
        fitted_on=used.fitted_on,
        own_days=used.own_days,
        last_observed_day=None if used.last_flow_day is None else date.fromisoformat(used.last_flow_day),
        last_observed=last[0],
        last_simulated=last[1],
    )


def usual_units(basin: run_types.RunBasin) -> Units:
    """Return the default unit of discharge: m3/s, or mm/day where the run names no area."""
    return "mm/day" if basin.area_m2 is None else "m3/s"


def in_units(depth: npt.NDArray[Any], basin: run_types.RunBasin, units: Units) -> Array:
    """Return discharge, stored in mm/day, in a unit."""
    if units == "mm/day":
        return np.asarray(depth, dtype=np.float64)
    if basin.area_m2 is None or basin.area_name is None:
        raise NoArea(f"The run names no drainage area of {basin.basin_id}: ask for units=mm/day.")
    area = convert.Area(basin.area_name, basin.area_m2)
    return convert.converted(depth, unit="mm/day", into=units, area=area)
