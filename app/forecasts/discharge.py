"""Discharge of a run in the requested unit: quantiles, peak, calibration and normal."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import Depends, Query
from pydantic import Field

from app.basins.run_levels import WithReturnPeriod, return_period
from app.exports.table import RIVER_FLOW
from app.forecasts.header import Columns
from app.http import json_numbers
from app.http.base_schema import Model, Series, column, maybe
from app.http.dependencies import AsKnown
from app.http.shown import As
from hydrology.base import units as convert
from hydrology.base.absent import Absent, absent
from hydrology.base.arrays import Array
from hydrology.base.calendar import as_date
from hydrology.base.reasons import Reason
from hydrology.base.units import NoArea, Units
from hydrology.outlook import Peak
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types
from records.runs.run_summary import CalibrationKind, WeatherShare
from records.runs.run_weather import RunRecalibration

Recalibration = Annotated[RunRecalibration, As("Recalibration", omit=("days",), exact=True)]


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
    weather_models: list[Annotated[WeatherShare, As()]] | None = Field(
        default=None, description="Shares of the weather models that it mixes. Only where the basin has several."
    )


DischargeUnits = Annotated[
    convert.Units, Query(description="The unit of discharge: m³/s, mm/day over the basin, or cubic feet per second.")
]
WithMembers = Annotated[bool, Query(description="Whether to include every member and the cells at T0.")]

PUBLISHED = "published discharge: as a forecaster adjusted it, else calibrated, else of the members (and traces)"
CALIBRATED = "discharge as issued, corrected by past errors and the last observed flow"
UNCALIBRATED = "discharge of the members (and traces), not calibrated"
ANSWER_LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
"""The levels of the calibrated quantiles in an answer."""


@dataclass(frozen=True, slots=True)
class Representation:
    """The requested form of a forecast; a latest answer states its age at `at`, None for a run asked for by id."""

    units: convert.Units
    members: bool
    at: datetime | None = None


async def _of_latest(at: AsKnown, units: DischargeUnits = "m3/s", members: WithMembers = False) -> Representation:
    return Representation(units, members, at)


async def _of_run(units: DischargeUnits = "m3/s", members: WithMembers = False) -> Representation:
    return Representation(units, members)


LatestForm = Annotated[Representation, Depends(_of_latest)]
RunForm = Annotated[Representation, Depends(_of_run)]


def quantiles_in_units(quantiles: run_arrays.RunSeries, basin: run_types.RunBasin, units: convert.Units) -> Columns:
    """Return the quantiles of discharge (levels, leads) as columns in a unit."""
    names = [level_name(level) for level in quantiles.axes["level"]]
    rows = in_units(quantiles.values, basin, units)
    return {name: json_numbers.column(row) for name, row in zip(names, rows, strict=True)}


def level_name(level: float) -> str:
    """Return the name of the quantile at a level from 0 to 1."""
    return "median" if level == 0.5 else f"p{round(100 * level):02}"


def quantile_series(meaning: str, levels: Sequence[float]) -> Series:
    """Return the columns that quantiles of discharge are in files."""
    names = {level_name(level): level for level in levels}
    return Series(
        meaning,
        unit_of="discharge",
        standard_name=RIVER_FLOW,
        cell_methods="time: mean",
        axis="quantile",
        names=names,
    )


def calibrated_columns(
    stored: run_arrays.RunSeries | None, basin: run_types.RunBasin, units: convert.Units
) -> Columns | Absent:
    """Return the calibrated quantiles as columns, or why there are none."""
    if stored is None:
        return basin.why_not_calibrated
    levels = stored.axes["level"]
    rows = stored.values[[levels.index(level) for level in ANSWER_LEVELS]]
    return quantiles_in_units(replace(stored, axes={"level": ANSWER_LEVELS}, values=rows), basin, units)


def calibration_of(latest: Latest, units: convert.Units) -> Calibration | Absent:
    """Return the error model and last observation behind the calibrated quantiles, or why there are none."""
    run, basin, used = latest.run, latest.basin, latest.basin.summary.calibration
    if isinstance(used, Absent):
        return basin.why_not_calibrated
    last: Sequence[float | None] = (None, None)
    if used.last_flow_mm is not None:
        last = json_numbers.column(in_units(np.array([used.last_flow_mm, used.simulated_mm]), basin, units))
    of_models: dict[str, Any] = {"weather_models": list(used.weather_shares)} if used.weather_shares else {}
    return Calibration.from_records(
        used,
        **of_models,
        hash=used.sha256,
        recalibration=None if run.weather is None else run.weather.recalibration,
        last_observed_day=None if used.last_flow_day is None else date.fromisoformat(used.last_flow_day),
        last_observed=last[0],
        last_simulated=last[1],
    )


def usual_units(basin: run_types.RunBasin, chosen: convert.Units = "m3/s") -> convert.Units:
    """Return the chosen unit of discharge, or mm/day where the run names no area."""
    return "mm/day" if basin.area_m2 is None else chosen


def in_units(depth: npt.NDArray[Any], basin: run_types.RunBasin, units: convert.Units) -> Array:
    """Return discharge, stored in mm/day, in a unit."""
    if units == "mm/day":
        return np.asarray(depth, dtype=np.float64)
    if (area := basin.area) is None:
        raise NoArea(f"The run names no drainage area of {basin.basin_id}: ask for units=mm/day.")
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
    latest: Latest,
    units: convert.Units,
    discharge: Columns | Absent,
    calibrated: Columns | Absent,
) -> NormalFlow | Absent:
    """Return the normal flow of the days ahead with the forecast in % of it, or why there is none."""
    basin, past = latest.basin, latest.run.filled_days
    if stored is None or isinstance(discharge, Absent):
        return basin.why(basin.summary.normal_mm)
    normal = json_numbers.column(in_units(stored.values, basin, units))
    return NormalFlow(
        discharge=normal,
        percent_of_normal=maybe(_percent(discharge, normal, past)),
        calibrated_percent_of_normal=maybe(_percent(calibrated, normal, past)),
    )


def _percent(flow: Columns | Absent, normal: list[float], past: int) -> float | Absent:
    to_come = sum(normal[past:])
    if to_come <= 0:
        return absent(Reason.NORMAL_IS_0)
    return flow if isinstance(flow, Absent) else json_numbers.rounded(100 * sum(flow["median"][past:]) / to_come)


class PeakOfRun(WithReturnPeriod):
    """The highest day ahead, over equally likely paths of the published flow: its height and its day."""

    p05: float = Field(description="Height exceeded with a chance of 95 %, in `units`.")
    median: float = Field(description="Median height, in `units`.")
    p95: float = Field(description="Height exceeded with a chance of 5 %, in `units`.")
    day_p05: date = Field(description="The peak is earlier than this day with a chance of 5 % at most.")
    day_median: date = Field(description="The median day of the peak.")
    day_p95: date = Field(description="The peak is later than this day with a chance of 5 % at most.")


def peak_of_run(latest: Latest, peak: Peak | Absent, units: Units) -> PeakOfRun | Absent:
    """Return the peak of a run's outlook in a unit."""
    if isinstance(peak, Absent):
        return peak
    t0, heights = as_date(latest.run.t0), np.array([peak.low, peak.height, peak.high])
    low, median, high = json_numbers.column(in_units(heights, latest.basin, units))
    first, middle, last = (t0 + timedelta(days=lead) for lead in (peak.first, peak.lead, peak.last))
    return PeakOfRun(
        p05=low,
        median=median,
        p95=high,
        day_p05=first,
        day_median=middle,
        day_p95=last,
        **return_period(peak.return_period),
    )
