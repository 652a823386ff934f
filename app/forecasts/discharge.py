"""Discharge of a run in the requested unit: quantiles, calibration and normal."""

from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import Depends, Query
from pydantic import Field

from app.forecasts.schemas import Columns
from app.http import json_numbers
from app.http.base_schema import Model, column
from app.http.dependencies import AsKnown
from app.http.discharge_units import NoArea
from app.http.json_numbers import rounded
from hydrology.base import units as convert
from hydrology.base.absent import Absent, absent, known
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from hydrology.uncertainty.recalibration import weight_of
from records.runs import run_arrays, run_types
from records.runs.run_summary import CalibrationKind


class Recalibration(Model):
    """How the distribution is recalibrated by the flow that came after past forecasts with the weather model."""

    fitted_on: str | None = Field(
        description="The period of the T0 it was fitted to. Null where too few have been observed: it is assumed.",
        examples=["1996-05-20..1996-09-30"],
    )
    issue_days: int = Field(description="Number of those T0.")
    reforecast_days: int = Field(
        description="Number of them without an issued forecast: computed later, with a past weather forecast."
    )
    weight: float = Field(description="From 0 to 1: the weight of what came after them, against what is assumed.")
    centre: list[float] = Field(
        description="By lead, how far what came lay from the middle of the forecasts, as a value of a standard normal "
        "distribution: above 0, forecasts are raised."
    )
    spread: list[float] = Field(
        description="By lead, the width that the distribution is multiplied by, between such values."
    )


class Calibration(Model):
    """The error model behind calibrated quantiles, and the observed flow it starts from."""

    kind: CalibrationKind = Field(
        description="What the distribution rests on. `observed`: the errors of simulations with observed weather. "
        "`provisional`: those, and the errors of the weather forecast. `fitted`: recalibrated by what came after "
        "the forecasts that were issued with the weather model. `backfilled`: the same, most of them reforecasts with "
        "its past issues."
    )
    hash: str = Field(description="Hash of the error model of simulations.")
    weather: str = Field(
        description="Weather that drives the run: `observed`, or a weather forecast's source and model."
    )
    weather_issues: int | None = Field(
        description="Number of past issues of the weather model behind the errors of the weather forecast; 0: they are "
        "assumed. Null without a weather forecast."
    )
    recalibration: Recalibration | None = Field(description="Null without a weather forecast.")
    fitted_on: str = Field(description="The period of fitting.", examples=["1980-10-01..1989-09-30"])
    own_days: int = Field(
        description="Number of observed days of this basin used in fitting; 0 for the model of all basins together."
    )
    last_observed_day: date | None = Field(description="The day of the last observed flow, which it starts from.")
    last_observed: float | None = Field(description="That flow, in the unit of `discharge`.")
    last_simulated: float | None = Field(description="The flow that the run has for that day, in the same unit.")


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


def quantiles_in_units(
    quantiles: run_arrays.RunSeries, basin: run_types.RunBasin, representation: Representation
) -> Columns:
    """Return the quantiles of discharge (levels, leads) as columns in a unit."""
    names = [level_name(level) for level in quantiles.axes["level"]]
    rows = in_units(quantiles.values, basin, representation.units)
    return {name: json_numbers.column(row) for name, row in zip(names, rows, strict=True)}


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
    return quantiles_in_units(shown, basin, representation)


def calibration_of(run: run_types.Run, basin: run_types.RunBasin, representation: Representation) -> Calibration | None:
    """Return the error model and last observation behind the calibrated quantiles."""
    used = known(basin.summary.calibration)
    if used is None:
        return None
    last: list[float | None] = [None, None]
    if used.last_flow_mm is not None:
        last = [
            *json_numbers.column(
                in_units(np.array([used.last_flow_mm, used.simulated_mm]), basin, representation.units)
            )
        ]
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


class NormalFlow(Model):
    """Normal flow of the gauge at this time of the year, and the forecast in percent of it."""

    discharge: list[float] = Field(description=column("The mean over the other years, in the requested unit"))
    percent_of_normal: float | None = Field(
        description="The median of `discharge`, summed over the days ahead, in % of the same sum of the normal."
    )
    calibrated_percent_of_normal: float | None = Field(description="The same of `calibrated`.")


def normal_flow(
    stored: run_arrays.RunSeries | None,
    basin: run_types.RunBasin,
    representation: Representation,
    discharge: Columns | None,
    calibrated: Columns | None,
    *,
    past: int,
) -> NormalFlow | None:
    """Return the normal flow of the days ahead with the forecast in % of it; None if the run has none.

    Args:
        discharge, calibrated: in the requested unit.
        past: number of past days after T0, which the percentages leave out.
    """
    if stored is None or discharge is None:
        return None
    normal = json_numbers.column(in_units(stored.values, basin, representation.units))
    return NormalFlow(
        discharge=normal,
        percent_of_normal=_percent(discharge, normal, past),
        calibrated_percent_of_normal=None if calibrated is None else _percent(calibrated, normal, past),
    )


def _percent(flow: Columns, normal: list[float], past: int) -> float | None:
    to_come = sum(normal[past:])
    return rounded(100 * sum(flow["median"][past:]) / to_come) if to_come > 0 else None


def missing_in_normal(normal: NormalFlow | None, basin: run_types.RunBasin) -> dict[str, Absent]:
    """Return why the normal, or a part of it, is null."""
    if normal is None:
        return {"normal": basin.why(basin.summary.normal_mm)}
    if normal.percent_of_normal is None:
        return dict.fromkeys(
            ("normal.percent_of_normal", "normal.calibrated_percent_of_normal"), absent(Reason.NORMAL_IS_0)
        )
    if normal.calibrated_percent_of_normal is None:
        return {"normal.calibrated_percent_of_normal": basin.why_not_calibrated}
    return {}
