"""/v1/basins/{basin}/persistence: the chances of a level by forecast and day, to see whether forecasts agree."""

import math
from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import JsonAnswer, documented_responses
from app.forecasts import lookup
from app.forecasts.exceedance import ExceedanceOfRun, LevelUnits, exceedance
from app.forecasts.lookup import PROBLEMS
from app.http.base_schema import Model, OfBasin
from app.http.dependencies import BasinId, Reading, ServiceClock
from app.http.problems import refused
from hydrology.base.units import NoArea, Units
from records.forecasts.latest import result_of
from records.outlooks import reader

FORECASTS = 10
"""The most forecasts that are compared."""


class ChancesOfForecast(Model):
    """The chance of the level on each day, by one forecast."""

    run: str = Field(description="Identifier of the forecast's run.")
    t0: date = Field(description="Last day of weather in its initial state.")
    issued_at: datetime = Field(description="When it was issued.")
    chance: list[float | None] = Field(
        description="By day of `time`, 0 to 1; null on days that are not ahead of the forecast, or without a chance."
    )
    within: float | None = Field(description="On any of its days.")
    reason: str | None = Field(description="Why its chances are null; null where they are not.")


class Persistence(OfBasin):
    """The chances of one level by the newest forecasts, the newest first."""

    level: str = Field(description="Its name in `/v1/basins/{basin}/thresholds`.")
    discharge: float | None = Field(description="In `units`; null where the record is too short to estimate it.")
    units: Units
    levels: list[str] = Field(description="The levels to choose from.")
    time: list[date] = Field(description="The days ahead of the newest forecast.")
    forecasts: list[ChancesOfForecast] = Field(
        description=f"At most {FORECASTS}, of one version and horizon; one for each T0."
    )


def persistence(session: Session, basin: str, level: str | None, at: datetime, units: Units) -> Persistence:
    """Return the chances of a level by the newest forecasts; by default of the highest that is likely now."""
    shown, _ = lookup.chosen(session, None, basin, at)
    runs = {run.t0: run for run in lookup.alike(session, shown, at) if run.t0 <= shown.run.t0}
    newest = sorted((runs | {shown.run.t0: shown.run}).items(), reverse=True)[:FORECASTS]
    answers = [exceedance(session, result_of(session, run.id, basin), None, units, None) for _, run in newest]
    levels = {str(one.name): one for one in answers[0].levels if one.direction == "rising" and one.flow == "calibrated"}
    if level is not None and level not in levels:
        raise refused("level", f"{level!r} is not a level that flow rises above here: {', '.join(levels)}.")
    outlook = reader.outlook(session, basin, at)
    threat = [one.level for one in (outlook.likely, outlook.possible) if one is not None and one.level in levels]
    lowest = min(levels, key=lambda name: levels[name].discharge or math.inf)
    chosen = levels[level or (*threat, lowest)[0]]
    return Persistence(
        basin=basin,
        level=str(chosen.name),
        discharge=chosen.discharge,
        units=units,
        levels=[*levels],
        time=answers[0].time,
        forecasts=[_forecast(answer, str(chosen.name), answers[0].time) for answer in answers],
    )


def _forecast(answer: ExceedanceOfRun, level: str, time: Sequence[date]) -> ChancesOfForecast:
    (of_level,) = (one for one in answer.levels if one.name == level)
    by_day = dict(zip(answer.time, of_level.chance or (), strict=False))
    return ChancesOfForecast(
        run=answer.run,
        t0=answer.t0,
        issued_at=answer.issued_at,
        chance=[by_day.get(day) for day in time],
        within=of_level.within,
        reason=of_level.reason,
    )


router = APIRouter(prefix="/basins", tags=["forecasts"])

OfLevel = Annotated[
    str | None,
    Query(
        description="A level that flow rises above; by default the highest that is likely now, else "
        "the highest that is possible, else the lowest.",
        max_length=64,
        examples=["gev-2"],
    ),
]


@router.get(
    "/{basin}/persistence",
    summary="Chances of a level by the newest forecasts",
    **documented_responses(Persistence, *PROBLEMS, NoArea),
)
def read_persistence(
    session: Reading,
    clock: ServiceClock,
    basin: BasinId,
    answer: JsonAnswer,
    units: LevelUnits = "m3/s",
    level: OfLevel = None,
) -> Response:
    """The chance of a level on each day ahead, by the newest forecasts of one version: whether one forecast after the
    other holds on to a flood, or drops it. As published, and with adjustments."""
    return answer.of(persistence(session, basin, level, clock.now(), units))
