"""/v1/basins/{basin}/exceedance: exceedance probabilities of levels, from a run's calibrated flow."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.basins.run_levels import AnsweredLevel, levels_of
from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts.discharge import PeakOfRun, peak_of_run
from app.forecasts.header import DaysOfRun, days_ahead, header_of_days
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.words import level_in_words, on
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Missing, Model, column, maybe
from app.http.dependencies import Reading
from hydrology.alerts import WINDOW_DAYS
from hydrology.base.absent import Absent, text
from hydrology.base.arrays import Array
from hydrology.base.units import NoArea, Units
from hydrology.uncertainty.exceedance import Direction, FlowAhead
from hydrology.uncertainty.weighted import of_traces, weighted_mean
from records.forecasts import adjustments
from records.forecasts.latest import Latest
from records.outlooks import outlooks
from records.runs import run_arrays, run_types, runs
from records.runs.run_weather import weights_of_members
from records.runs.tables import Adjustment

FlowOf = Literal["calibrated", "members"]


class LevelChances(Model):
    """Exceedance probability of one level."""

    name: str | None = Field(
        description="The level's name in `/v1/basins/{basin}/thresholds`; null for a requested discharge."
    )
    discharge: float | None = Field(description="In `units`; null where the record is too short to estimate it.")
    direction: Direction = Field(description="Whether flow passes it upwards (`rising`) or downwards.")
    flow: FlowOf = Field(
        description="The flow behind the chance. `calibrated`: the error model's, as a forecaster adjusted "
        "it. `members`: the share of the "
        "members, by their weights and with every trace of weather, uncalibrated; the levels of the version's own "
        "simulation (`model-...`) are compared with these."
    )
    chance: list[float | None] | None = Field(
        description=column(
            "Chance that the day's mean flow is beyond the level, 0 to 1. Beyond the outer quantiles of calibrated "
            "flow, 0.5 and 99.5 percent, nothing is known, so a calibrated chance is at least 0.005 and at most "
            "0.995. Null on days that a forecaster's adjustment moves no flow to"
        )
    )
    within: float | None = Field(
        description="Chance that the level is passed on any of the days: the share of equally likely, temporally "
        "consistent paths of flow that pass it; or as a forecaster set it."
    )
    in_words: str | None = Field(description="The same in a sentence.")
    reason: str | None = Field(description="Why the chances are null; null where they are not.")


class ExceedanceOfRun(DaysOfRun):
    """Exceedance probabilities of levels on the days ahead."""

    levels: list[LevelChances] = Field(
        description="The levels set by operators, the basin's floods and low flows, and those of the version's own "
        "simulation; or the requested discharge."
    )
    peak: PeakOfRun | None = Field(
        description="The highest day ahead, with its uncertainty in height and time. Null where flow more likely falls "
        "from the last past day than rises."
    )
    missing: Missing = EXPLAINED


@dataclass(frozen=True, slots=True)
class _Calibrated:
    """The published calibrated flow of a run, mm/day, NaN on days without; the first `past` days had ended."""

    flow: FlowAhead
    past: int

    def chances(self, depth: float, direction: Direction) -> tuple[Array, float]:
        """Return the exceedance probability of a depth on each day, and on any to come."""
        has_flow, of_days = np.isfinite(self.flow.median), np.full(len(self.flow.median), np.nan)
        of_days[has_flow], within = self.flow.known().chances(depth, direction)
        return of_days, self.flow.after(self.past).known().chances(depth, direction)[1] if self.past else within

    def subject(self, within: float) -> str:
        return f"{_chance(within)} that flow"


@dataclass(frozen=True, slots=True)
class _Members:
    """The uncalibrated flow, (members, leads) in mm/day; `weights`, (members,), sum to 1, None where all are equal."""

    flow: Array
    past: int
    weights: Array | None

    def chances(self, depth: float, direction: Direction) -> tuple[Array, float]:
        """Return the share of members that pass a depth on each day, and on any to come."""
        passed = self.flow > depth if direction == "rising" else self.flow < depth
        within = np.asarray(passed[:, self.past :].any(axis=1))
        return weighted_mean(passed, self.weights), float(weighted_mean(within, self.weights))

    def subject(self, within: float) -> str:
        """Describe the number of members that pass a level, or their share where they have weights."""
        if self.weights is not None:
            return f"The flow of {round(100 * within)} % of the members, by their weights,"
        return f"The flow of {round(within * len(self.flow))} of {len(self.flow)} members"


_Flow = _Calibrated | _Members
_Flows = Mapping[FlowOf, _Flow | Absent]
"""The flow to compare levels with, or why there is none."""


def exceedance(
    session: Session, latest: Latest, at: datetime | None, units: Units, discharge: float | None
) -> ExceedanceOfRun:
    """Return exceedance probabilities of a level in `units`, or of the basin's own; `at` is for a latest answer."""
    run, basin = latest.run, latest.basin
    adjustment = None if latest.adjustment is None else adjustments.get(session, latest.adjustment)
    flows, last = _flows(session, run, basin, adjustment), days_ahead(run)["time"][-1]
    judged: Mapping[str, float] = {}
    if adjustment is not None and run.days_to_come <= WINDOW_DAYS:  # it covers all days to come
        judged = adjustment.chances
    return ExceedanceOfRun(
        **header_of_days(latest, at),
        units={"discharge": units},
        levels=[
            _level_chances(flows, level, last, units, judged)
            for level in levels_of(session, latest, at, units, discharge)
        ],
        peak=maybe(_peak(session, latest, adjustment, units)),
    )


def _flows(session: Session, run: run_types.Run, basin: run_types.RunBasin, adjustment: Adjustment | None) -> _Flows:
    series = runs.series_of(session, run.id, basin.basin_id, ("discharge", run_arrays.CALIBRATED, run_arrays.PATHS))
    flows: dict[FlowOf, _Flow | Absent] = {"calibrated": basin.why_not_calibrated, "members": basin.why_missing}
    if basin.status != "issued":
        return flows
    if (calibrated := runs.calibrated_flow(series)) is not None:
        published = calibrated if adjustment is None else adjustment.of_flow.adjusted_ahead(calibrated)
        flows["calibrated"] = _Calibrated(published, run.filled_days)
    if "discharge" in series:
        values, axes = series["discharge"].values, series["discharge"].axes
        flow = values.reshape(-1, values.shape[-1]).astype(np.float64)
        weights = of_traces(weights_of_members(basin.summary.parts, axes["member"]), len(flow) // len(values))
        flows["members"] = _Members(flow, run.filled_days, weights)
    return flows


def _peak(session: Session, latest: Latest, adjustment: Adjustment | None, units: Units) -> PeakOfRun | Absent:
    run, basin = latest.run, latest.basin
    key = run.id, basin.basin_id
    outlook = outlooks.of_runs(session, [(run, basin)], {} if adjustment is None else {key: adjustment})[key]
    if isinstance(outlook, Absent):
        return outlook
    peak = basin.why_not_calibrated if outlook.basis == "members" else outlook.published.peak
    return peak_of_run(latest, peak, units)


def _level_chances(
    flows: _Flows, level: AnsweredLevel, last: date, units: Units, judged: Mapping[str, float]
) -> LevelChances:
    flow_of: FlowOf = "members" if level.of_model else "calibrated"
    flow = flows[flow_of]
    shown = None if level.shown is None else json_numbers.rounded(level.shown)
    chances = partial(LevelChances, name=level.name, discharge=shown, direction=level.direction, flow=flow_of)
    unknown = partial(chances, chance=None, within=None, in_words=None)
    if level.depth is None:
        return unknown(reason=text(level.reason))
    if isinstance(flow, Absent):
        return unknown(reason=str(flow))
    of_days, within = flow.chances(level.depth, level.direction)
    within = judged.get(level.name or "", within)
    way = "rises above" if level.direction == "rising" else "falls below"
    sentence = f"{flow.subject(within)} {way} {level_in_words(level, units)} by {on(last)}."
    return chances(chance=json_numbers.gappy_column(of_days), within=within, in_words=sentence, reason=None)


def _chance(chance: float) -> str:
    if chance <= 0.01:
        return "A chance of 1 in 100 or less"
    if chance >= 0.99:
        return "A chance of 99 in 100 or more"
    if chance < 0.5:
        return f"A chance of 1 in {round(1 / chance)}"
    return f"A chance of {round(10 * chance)} in 10" if chance < 0.95 else f"A chance of {round(100 * chance)} in 100"


router = APIRouter(prefix="/basins", tags=["forecasts"])

LevelUnits = Annotated[Units, Query(description="The unit of every level.")]
Discharge = Annotated[
    float | None,
    Query(
        description="A level in `units`, passed upwards; by default the levels of the basin.",
        gt=0,
        le=1e9,
        examples=[85.0],
    ),
]


@router.get(
    "/{basin}/exceedance",
    summary="Exceedance probability of discharge levels",
    **documented_responses(ExceedanceOfRun, *PROBLEMS, NoArea),
)
def read_exceedance(
    session: Reading, asked: AskedRun, answer: JsonAnswer, units: LevelUnits = "m3/s", discharge: Discharge = None
) -> Response:
    """The chance that the day's mean flow passes a level, for each day ahead and for any of them: of the floods, low
    flows and operators' levels in `thresholds`, or of a requested discharge, by the calibrated flow of a forecast;
    null, with the reason, if it is not calibrated. The levels of the version's own simulation are compared with the
    uncalibrated members."""
    return answer.of(exceedance(session, *asked, units, discharge))
