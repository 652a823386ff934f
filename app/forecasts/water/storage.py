"""/v1/basins/{basin}/storage: water stored in a basin, on past days and in percent of normal."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Annotated

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import Table, numbers
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.schemas import DaysOfRun
from app.forecasts.stored_water import HARDLY_ANY, SnowRead, missing_in_snow, storage_of, why_no_snow, why_no_water
from app.forecasts.table import day_columns, run_columns, water_columns
from app.http import json_numbers
from app.http.base_schema import Missing, Model, column
from app.http.dependencies import Reading
from app.http.json_numbers import gappy_column
from app.versions.scores import SnowSkill, snow_skill
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.climatology.normals import normal_means, too_few_years
from hydrology.snow.against_normal import MIN_MM
from records.basins.basins import Site
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs
from records.runs.past_states import cells_between
from records.runs.run_summary import NOT_STORED
from records.simulations import simulated_series, snow_cells
from records.simulations.simulated_series import SimulatedWater
from records.simulations.snow_cells import mapping

router = APIRouter(prefix="/basins", tags=["water"])


class NormalWater(Model):
    """Water on the same days of other years, and the run in percent of it."""

    water: list[float] = Field(
        description=column("Mean over other years of the version's simulation with observed weather, mm")
    )
    percent_of_normal: list[float | None] = Field(description=column("The water of the run in % of it"))


class PastWater(Model):
    """Water in the basin on the days up to T0, mm, the mean of the members."""

    time: list[date] = Field(description="The days, T0 the last.")
    total: list[float | None] = Field(
        description=column("All water in the model's store at the end of the day, mm; null on days without a state")
    )
    snow: list[float | None] | None = Field(
        description=column("The part in the cells that read as snow, mm") + " Null where no cells read as snow."
    )


class StorageOfRun(DaysOfRun):
    """Water in the basin on the days ahead, mm, the mean of the members."""

    at_t0: float | None = Field(
        description="All water in the model's store at the end of T0, before the first day ahead, mm."
    )
    total: list[float] | None = Field(description=column("All water in the model's store at the end of the day, mm"))
    snow: list[float] | None = Field(description=column("The part in the cells that read as snow, mm"))
    snow_read: SnowRead | None = Field(description="Origin and spread of `snow`.")
    other: list[float] | None = Field(description=column("The rest, mm"))
    past: PastWater | None = Field(
        default=None, description="The water of the days up to T0. Only with `past_days`; null where none is known."
    )
    normal_total: NormalWater | None = Field(
        description="Of `total`. It comes from the same model version, so both share its bias."
    )
    normal_snow: NormalWater | None = Field(
        description="Of `snow`; its normal at T0 is that of `snow_read` and of the outlook."
    )
    snow_skill: list[SnowSkill] = Field(
        description="Skill of those cells against reference snow, by the latest evaluation."
    )
    missing: Missing


SAME_NORMAL = 1e-3
"""Relative difference of the normal at T0 up to which cells and simulated past are those of the run."""
WaterAndReasons = tuple[NormalWater | None, dict[str, Absent]]
"""The normal, and why it or a field is null, by the field's name after a dot."""


def normal_total(session: Session, latest: Latest, total: Sequence[float]) -> WaterAndReasons:
    """Return the normal storage, from the past simulated by the run's version."""
    water = simulated_series.storage_of(session, latest.run.version_id, latest.basin.basin_id)
    return (None, {"": water}) if isinstance(water, Absent) else _against(_normal_means(latest, water)[1:], total)


def normal_snow(session: Session, latest: Latest, snow: Sequence[float]) -> WaterAndReasons:
    """Return the normal amount of snow read, by the cells of the run; null where the run has no normal at T0."""
    summary, basin = latest.basin.summary, latest.basin.basin_id
    at_t0 = why_no_snow(latest.basin) if isinstance(summary.snow, Absent) else summary.snow.normal_mm
    if isinstance(at_t0, Absent):
        return None, {"": at_t0}
    weights = {part.version: part.weight for part in summary.parts} or {latest.run.version_id: 1.0}
    normal = np.zeros(latest.run.horizon_days + 1)
    for version, weight in weights.items():
        water = simulated_series.snow_of(session, version, basin, mapping(session, version, basin))
        if isinstance(water, Absent):
            return None, {"": water}
        normal += weight / sum(weights.values()) * _normal_means(latest, water)
    if not np.isnan(normal[0]) and not np.isclose(normal[0], at_t0, rtol=SAME_NORMAL):
        return None, {"": absent(Reason.SNOW_NORMAL_CHANGED)}
    return _against(normal[1:], snow)


def _normal_means(latest: Latest, water: SimulatedWater) -> npt.NDArray[np.float64]:
    """Return the normal of T0 and of the days ahead, NaN on days of too few years."""
    days = latest.run.t0 + np.arange(latest.run.horizon_days + 1)
    return normal_means(water.values, water.period, days)


def _against(normal: npt.NDArray[np.float64], stored: Sequence[float]) -> WaterAndReasons:
    if lacking := int(np.isnan(normal).sum()):
        return None, {"": too_few_years(lacking, len(normal))}
    enough = normal >= MIN_MM
    percent = np.where(enough, 100 * np.asarray(stored) / np.where(enough, normal, 1), np.nan)
    missing = {} if enough.all() else {".percent_of_normal": HARDLY_ANY}
    return NormalWater(water=json_numbers.column(normal), percent_of_normal=gappy_column(percent)), missing


Cells = Mapping[Day, npt.NDArray[np.floating]]


def past_water(session: Session, latest: Latest, days: int) -> PastWater | Absent:
    """Return the water of a number of days up to T0, the mean of the members.

    A day with a stored state has that state's water, any other that of the version's simulated past; the two agree
    where the weather is the same. The version conserves mass: cells of other networks hold no water.

    Args:
        days: number of days, T0 the last of them.
    """
    version, basin, t0 = latest.run.version_id, latest.basin.basin_id, latest.run.t0
    period = Period(t0 - (days - 1), t0)
    cells = cells_between(session, version, basin, period)
    simulated = simulated_series.storage_of(session, version, basin)
    if not cells and isinstance(simulated, Absent):
        return simulated
    snow_cells = mapping(session, version, basin)
    total = _filled(simulated, period, {day: of_day.sum(axis=1).mean() for day, of_day in cells.items()})
    snow = None
    if not isinstance(snow_cells, Absent):
        past = simulated_series.snow_of(session, version, basin, snow_cells)
        of_members = [snow_cells.cells[label] for label in latest.run.members]
        snow = gappy_column(_filled(past, period, _snow(cells, of_members)))
    return PastWater(time=period.days.tolist(), total=gappy_column(total), snow=snow)


def _snow(cells: Cells, chosen: Sequence[Sequence[int]]) -> dict[Day, float]:
    return {
        day: float(np.mean([row[list(wanted)].sum() for row, wanted in zip(of_day, chosen, strict=True)]))
        for day, of_day in cells.items()
    }


def _filled(simulated: SimulatedWater | Absent, period: Period, stored: Mapping[Day, float]) -> npt.NDArray[np.float64]:
    """Return the simulated water of a period, replaced on days with a stored state; NaN where neither is known."""
    values = np.full(len(period), np.nan)
    if not isinstance(simulated, Absent):
        at = (period.days - simulated.period.first).astype(int)
        known = (at >= 0) & (at < len(simulated.values))
        values[known] = simulated.values[at[known]]
    for day, water in stored.items():
        values[int((day - period.first).astype(int))] = water
    return values


NO_SNOW_SKILL = absent(Reason.SNOW_NOT_SCORED)


def storage(session: Session, latest: Latest, at: datetime | None) -> StorageOfRun:
    """Return the water in the basin; `at` is the clock's time for a latest answer."""
    run, basin = latest.run, latest.basin
    wanted = ("storage", "snow", run_types.SNOW_SPREAD)
    series = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    snow_skills = [snow_skill(cells) for cells in snow_cells.own_cells(session, run.version_id, [basin.basin_id])]
    stored = storage_of(series, basin)
    missing = missing_in_header(basin) | ({} if snow_skills else {"snow_skill": NO_SNOW_SKILL})
    at_t0 = total = snow = read = other = usual_total = usual_snow = None
    if stored is None:
        reason = why_no_water(session, latest)
        missing |= dict.fromkeys(
            ("at_t0", "total", "snow", "snow_read", "other", "normal_total", "normal_snow"), reason
        )
    else:
        at_t0, total, snow, read = stored.at_t0, stored.total, stored.snow, stored.snow_read
        if at_t0 is None:
            missing["at_t0"] = NOT_STORED
        missing |= missing_in_snow(read, basin, "snow_read")
        usual_total, reasons = normal_total(session, latest, total)
        missing |= {f"normal_total{field}": why for field, why in reasons.items()}
        if snow is None:
            missing |= dict.fromkeys(("snow", "other", "normal_snow"), why_no_snow(basin))
        else:
            of_all, of_snow = (
                run_arrays.over_members(series[name], basin.summary.parts) for name in ("storage", "snow")
            )
            other = json_numbers.column(of_all - of_snow)
            usual_snow, reasons = normal_snow(session, latest, snow)
            missing |= {f"normal_snow{field}": why for field, why in reasons.items()}
    return StorageOfRun(
        **header(latest, at),
        **days_ahead(run),
        units=dict.fromkeys(("at_t0", "total", "snow", "other", "normal_total", "normal_snow"), "mm"),
        at_t0=at_t0,
        total=total,
        snow=snow,
        snow_read=read,
        other=other,
        normal_total=usual_total,
        normal_snow=usual_snow,
        snow_skill=snow_skills,
        missing=texts(missing),
    )


def storage_with_past(session: Session, latest: Latest, at: datetime | None, days: int) -> StorageOfRun:
    """Return the water in the basin, with that of a number of days up to T0; 0 leaves the past out."""
    answer = storage(session, latest, at)
    if days == 0:
        return answer
    if answer.total is None:
        return answer.model_copy(update={"past": None, "missing": answer.missing | {"past": answer.missing["total"]}})
    past = past_water(session, latest, days)
    if isinstance(past, Absent):
        return answer.model_copy(update={"past": None, "missing": answer.missing | {"past": str(past)}})
    return answer.model_copy(update={"past": past})


def of_storage(answer: StorageOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the water in a basin on the days ahead."""
    rows = len(answer.time)
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        *water_columns(answer, rows),
        numbers("storage_other", "the rest of the water", answer.other, rows, "mm"),
    ]
    return Table(f"{answer.basin}_storage_{answer.t0}", f"Water stored in {answer.basin}", columns)


PastDays = Annotated[
    int, Query(description="Number of days up to T0 whose water is included as `past`.", ge=0, le=366, examples=[30])
]


@router.get(
    "/{basin}/storage",
    summary="Water stored in a basin, and the part read as snow",
    **documented_responses(StorageOfRun, *PROBLEMS, formats=SERIES),
)
def read_storage(session: Reading, answer: SeriesAnswer, asked: AskedRun, past_days: PastDays = 0) -> Response:
    """Water in the basin at the end of each day ahead, mm: all of it, the part in cells read as snow, and the rest. The
    model was not trained on snow; `snow_skill` gives the skill of those cells against reference snow. With `past_days`
    also the days up to T0, from stored states and the simulated past. Null, with the reason, for networks that do not
    conserve mass."""
    return answer.of_basin(storage_with_past(session, *asked, past_days), of_storage)
