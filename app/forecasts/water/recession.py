"""/v1/basins/{basin}/drain-down: recession without further rain, from a run with dry weather."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.run_levels import AnsweredLevel, levels_of
from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts.discharge import UNCALIBRATED, in_units, quantile_series, quantiles_in_units
from app.forecasts.header import Columns, DaysOfRun, days_ahead, header_of_days, run_table
from app.forecasts.lookup import PROBLEMS, RunAndTime
from app.forecasts.stored_water import why_no_water
from app.forecasts.words import UNITS, depth, level_in_words, number, on
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Missing, Model, Series, column
from app.http.dependencies import BasinId, ChosenRun, Reading, ServiceClock
from app.http.problems import refused
from hydrology.base.absent import Absent, absent, text
from hydrology.base.arrays import Array
from hydrology.base.reasons import Reason
from hydrology.base.units import NoArea, Units
from hydrology.climatology.volumes import million_m3
from hydrology.uncertainty.weighted import weighted_mean, weighted_quantiles
from hydrology.water.storage import Drained, first_days_below, milestones, reached_by
from jobspec.fields import DayField
from records.forecasts import volumes_and_recessions
from records.forecasts.latest import Latest, result_of
from records.runs import run_arrays, run_types, runs
from records.runs.run_weather import weights_of_members


class AmountOfWater(Model):
    """An amount of water, mm."""

    mean: float = Field(description="The mean of the members.")
    p05: float = Field(description="Their 5 % quantile. Quantiles do not add up.")
    p95: float = Field(description="Their 95 % quantile.")


class DrainedBy(Model):
    """Fate of the water stored at T0, by the end of a day."""

    day: date
    days: int = Field(description="Days since T0.")
    runs_off: AmountOfWater = Field(
        description="Water that has run off. With `lost` and `left`, its mean is the `ceiling`."
    )
    runs_off_volume: float | None = Field(description="Its mean in million m³.")
    lost: AmountOfWater = Field(description="Water lost other than through the river.")
    left: AmountOfWater = Field(description="Water still stored.")


class LowFlow(Model):
    """The first day with flow below a level."""

    name: str = Field(
        description="The level's name in `/v1/basins/{basin}/thresholds`. `model-...` comes from the version's own "
        "simulation and shares its bias; a model with too little water passes a level of the record too soon."
    )
    discharge: float | None = Field(description="In the unit of `discharge`; null where the record is too short.")
    day: date | None = Field(description="The first day by which flow has fallen below it in half of the members.")
    p05: date | None = Field(description="The same for 5 % of the members.")
    p95: date | None = Field(description="The same for 95 % of the members.")
    days: int | None = Field(description="Days from T0 to `day`.")
    in_words: str | None = Field(description="The same in a sentence.")
    reason: str | None = Field(description="Why any of them is null; null where none is.")


class DrainDownOfRun(DaysOfRun):
    """Recession of a basin without further rain."""

    discharge: Annotated[Columns | None, quantile_series(UNCALIBRATED, run_types.QUANTILES)] = Field(
        description=column("The quantiles of the members, by name, not calibrated")
    )
    ceiling: float | None = Field(
        description="All water stored at T0, mm, mean of the members: the upper limit of runoff, if none of it were "
        "lost."
    )
    runs_off: Annotated[list[float] | None, Series("water that has run off since t0, mean of the members")] = Field(
        description=column("Water that has run off since T0, mm, mean of the members")
    )
    lost: Annotated[
        list[float] | None, Series("water lost other than through the river since t0, mean of the members")
    ] = Field(description=column("Water lost other than through the river since T0, mm, mean of the members"))
    left: Annotated[list[float] | None, Series("water still stored at the end of the day, mean of the members")] = (
        Field(description=column("Water still stored, mm, mean of the members"))
    )
    totals: list[DrainedBy] | None = Field(
        description="The same after 10, 30, 90 and 180 days, as far as the run reaches, and at its end."
    )
    low_flows: list[LowFlow] | None = Field(
        description="For each low level: those set by operators, those of the basin's record, "
        "and those of the version's own simulation."
    )
    in_words: str | None = Field(description="The fate of the water, in a sentence.")
    missing: Missing = EXPLAINED


_LOW, _HIGH = run_types.SPREAD_LEVELS
_ACCOUNT = ("ceiling", "runs_off", "lost", "left", "totals", "in_words")
"""Fields about the fate of the stored water."""


def recession_of_run(session: Session, latest: Latest, at: datetime | None, units: Units) -> DrainDownOfRun:
    """Return the recession of a run with dry weather; `at`: clock time for the newest run."""
    run, basin, days = latest.run, latest.basin, days_ahead(latest.run)["time"]
    wanted = ("discharge", "discharge_quantiles", "loss", "storage", "cells_at_t0")
    arrays = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    fields: dict[str, Any] = dict.fromkeys(("discharge", "low_flows"), basin.why_missing)
    fields |= dict.fromkeys(_ACCOUNT, why_no_water(session, latest))
    if arrays:
        spell = _Spell(arrays["discharge"].values.astype(np.float64), _weights(arrays, basin), basin, days, units)
        levels = [level for level in levels_of(session, latest, at, units) if level.direction == "falling"]
        fields["discharge"] = quantiles_in_units(arrays["discharge_quantiles"], basin, units)
        fields["low_flows"] = [spell.low_flow(level) for level in levels]
    if "storage" in arrays:
        fields |= _account(arrays, basin, days)
        if basin.area_m2 is None:
            fields["missing"] = {"totals.runs_off_volume": str(absent(Reason.RUN_WITHOUT_AREA))}
    return DrainDownOfRun(
        **header_of_days(latest, at),
        units={
            **dict.fromkeys(("discharge", "low_flows.discharge"), units),
            **dict.fromkeys(("ceiling", "runs_off", "lost", "left", "totals"), "mm"),
            "totals.runs_off_volume": "1e6 m3",
        },
        **fields,
    )


def _account(
    arrays: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin, days: Sequence[date]
) -> dict[str, Any]:
    held, weights = arrays["cells_at_t0"].values.sum(axis=1, dtype=np.float64), _weights(arrays, basin)
    flow, loss, storage = (arrays[name].values for name in ("discharge", "loss", "storage"))
    drained = Drained.of(flow, loss, storage, held)
    of_members = (drained.runs_off, drained.lost, drained.left)
    runs_off, lost, left = (json_numbers.column(weighted_mean(values, weights)) for values in of_members)
    ceiling = json_numbers.rounded(float(weighted_mean(held, weights)))
    return {
        "ceiling": ceiling,
        "runs_off": runs_off,
        "lost": lost,
        "left": left,
        "totals": [_by(drained, weights, lead, basin, days) for lead in milestones(len(days))],
        "in_words": f"If no more rain or snow fell, {number(runs_off[-1], unit='mm')} of the {depth(ceiling)} of water "
        f"in the basin would run off by {on(days[-1])}, {depth(lost[-1])} be lost and {depth(left[-1])} be left.",
    }


def _weights(arrays: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin) -> Array | None:
    return weights_of_members(basin.summary.parts, arrays["discharge"].axes["member"])


def _by(
    drained: Drained, weights: Array | None, lead: int, basin: run_types.RunBasin, days: Sequence[date]
) -> DrainedBy:
    runs_off, lost, left = (values[:, lead - 1] for values in (drained.runs_off, drained.lost, drained.left))
    volume = None
    if basin.area is not None:
        (volume,) = json_numbers.column(million_m3(weighted_mean(runs_off[:, np.newaxis], weights), basin.area))
    return DrainedBy(
        day=days[lead - 1],
        days=lead,
        runs_off=_amount(runs_off, weights),
        runs_off_volume=volume,
        lost=_amount(lost, weights),
        left=_amount(left, weights),
    )


def _amount(of_members: Array, weights: Array | None) -> AmountOfWater:
    spread = weighted_quantiles(of_members, (_LOW, _HIGH), weights)
    mean, low, high = json_numbers.column(np.array([weighted_mean(of_members, weights), *spread]))
    return AmountOfWater(mean=mean, p05=low, p95=high)


@dataclass(frozen=True, slots=True)
class _Spell:
    """Members' flow in a dry spell, (members, days) in mm/day, with their weights, and the answer's unit."""

    flow: Array
    weights: Array | None
    basin: run_types.RunBasin
    days: Sequence[date]
    units: Units

    def low_flow(self, level: AnsweredLevel) -> LowFlow:
        firsts = np.full(len(self.flow), np.inf)
        reason = self._why_not_asked(level)
        if reason is None and level.depth is not None:
            firsts = first_days_below(self.flow, level.depth)
            below = int(np.isfinite(firsts).sum())
            if reached_by(firsts, _HIGH, self.weights) is None:
                reason = absent(Reason.LEVEL_NOT_PASSED, below=below, members=len(firsts), days=len(self.days))
        low, half, high = (reached_by(firsts, share, self.weights) for share in (_LOW, 0.5, _HIGH))
        return LowFlow(
            name=level.name or "",
            discharge=None if level.shown is None else json_numbers.rounded(level.shown),
            day=self._day(half),
            p05=self._day(low),
            p95=self._day(high),
            days=half,
            in_words=None if half is None else self._sentence(level, low, half, high),
            reason=text(reason),
        )

    def _why_not_asked(self, level: AnsweredLevel) -> Absent | None:
        if level.depth is None:
            return level.reason
        if level.depth == 0:
            return absent(Reason.DRY_RIVER)
        at_t0 = self.basin.summary.flow_at_t0_mm
        if at_t0 is None or at_t0 >= level.depth:
            return None
        (flow,) = in_units(np.array([at_t0]), self.basin, self.units).tolist()
        return absent(Reason.BELOW_AT_T0, flow=number(flow), unit=UNITS[self.units])

    def _day(self, lead: int | None) -> date | None:
        return None if lead is None else self.days[lead - 1]

    def _sentence(self, level: AnsweredLevel, low: int | None, half: int, high: int | None) -> str:
        assert low is not None
        sentence = (
            f"Without rain, flow falls below {level_in_words(level, self.units)} on {on(self.days[half - 1])}; in 5 % "
            f"of the members by {on(self.days[low - 1])}"
        )
        return f"{sentence}." if high is None else f"{sentence}, in 95 % by {on(self.days[high - 1])}."


TABLE = run_table("drain_down", "Recession of {0.basin} without further rain")
router = APIRouter(prefix="/basins", tags=["water"])

FlowUnits = Annotated[Units, Query(description="The unit of discharge, and of the levels.")]
FromT0 = Annotated[DayField | None, Query(description="The newest run with this T0; by default the newest of all.")]


def _dry_run(
    session: Reading, clock: ServiceClock, basin: BasinId, t0: FromT0 = None, run: ChosenRun = None
) -> RunAndTime:
    if run is None:
        return volumes_and_recessions.newest_recession(session, basin, clock.now(), t0), clock.now()
    if t0 is not None:
        raise refused("t0", "a run has its own T0: leave out either `t0` or `run`.")
    named = result_of(session, run, basin)
    volumes_and_recessions.require_dry(named.run)
    return named, None


@router.get(
    "/{basin}/drain-down",
    summary="Recession without further rain, and the day of low flow",
    **documented_responses(DrainDownOfRun, *PROBLEMS, volumes_and_recessions.NotDry, NoArea, formats=SERIES),
)
def read_drain_down(
    session: Reading,
    answer: SeriesAnswer,
    asked: Annotated[RunAndTime, Depends(_dry_run)],
    units: FlowUnits = "m3/s",
) -> Response:
    """Runoff of the water stored in the basin at T0, if no more rain or snow fell and all other weather were the mean
    of other years: discharge for each day; runoff, loss and remaining water after 10, 30, 90 and 180 days; and the
    first day on which flow is below each low level. The weather is hypothetical, so this is not a forecast. From the
    newest run with dry weather (a job `forecast` with `weather` dry creates one), or from the run named. Fields about
    stored water are null, with the reason, for networks that do not conserve mass."""
    return answer.of_basin(recession_of_run(session, *asked, units), TABLE)
