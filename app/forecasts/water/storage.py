"""/v1/basins/{basin}/storage: water stored in a basin, on past days and in percent of normal."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.forecasts.header import DaysOfRun, header_of_days, run_table
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.stored_water import SnowRead, stored_water, why_no_water
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Missing, Model, Series, column
from app.http.dependencies import Reading
from app.versions.scores import SnowSkill, snow_skill
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.calendar import Day, Period
from hydrology.base.reasons import Reason
from hydrology.climatology.normals import normal_means, too_few_years
from hydrology.snow.against_normal import MIN_MM
from records.forecasts.latest import Latest
from records.runs import run_types, runs
from records.runs.run_arrays import RunSeries, over_members
from records.runs.run_summary import HARDLY_ANY
from records.runs.states import cells_between
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
    total: Annotated[
        list[float] | None, Series("all water in the model's store at the end of the day", column="storage_total")
    ] = Field(description=column("All water in the model's store at the end of the day, mm"))
    snow: Annotated[
        list[float] | None,
        Series("water in the cells read as snow; the model was not trained on snow", column="storage_snow"),
    ] = Field(description=column("The part in the cells that read as snow, mm"))
    snow_read: Annotated[SnowRead | None, Series("{}", column="storage_snow_{}")] = Field(
        description="Origin and spread of `snow`."
    )
    other: Annotated[list[float] | None, Series("the rest of the water", column="storage_other")] = Field(
        description=column("The rest, mm")
    )
    past: PastWater | None = Field(
        default=None, description="The water of the days up to T0. Only with `past_days`; null where none is known."
    )
    normal_total: NormalWater | None = Field(
        description="Of `total`. It comes from the same model version, so both share its bias."
    )
    normal_snow: NormalWater | None = Field(description="Of `snow`.")
    snow_skill: list[SnowSkill] = Field(
        description="Skill of those cells against reference snow, by the latest evaluation."
    )
    missing: Missing = EXPLAINED


SAME_NORMAL = 1e-3
"""Relative difference of the normal at T0 up to which cells and simulated past are those of the run."""
_BESIDE = ("other", "normal_total", "normal_snow")
"""Fields that the answer has beside those of `Storage`."""
Cells = Mapping[Day, npt.NDArray[np.floating]]


def past_water(session: Session, latest: Latest, days: int) -> PastWater | Absent:
    """Return the water of a number of days up to T0, the mean of the members.

    A day with a stored state has that state's water, any other that of the version's simulated past; the two agree
    where the weather is the same. The version conserves mass: cells of other networks hold no water.
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
        snow = json_numbers.gappy_column(_filled(past, period, _snow(cells, of_members)))
    return PastWater(time=period.days.tolist(), total=json_numbers.gappy_column(total), snow=snow)


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


def storage(session: Session, latest: Latest, at: datetime | None, past_days: int) -> StorageOfRun:
    """Return the water in the basin, with `past_days` up to T0, 0 for none; `at` is for a latest answer."""
    run, basin = latest.run, latest.basin
    wanted = ("storage", "snow", run_types.SNOW_SPREAD)
    series = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    skill = [snow_skill(cells) for cells in snow_cells.own_cells(session, run.version_id, [basin.basin_id])]
    if "storage" in series:
        water = _water(session, latest, series)
        past = past_water(session, latest, past_days) if past_days else None
    else:
        why = why_no_water(session, latest)
        water, past = dict.fromkeys(("at_t0", "total", "snow", "snow_read", *_BESIDE), why), why
    if past_days:
        water["past"] = past
    normal = {name: part for name in ("normal_total", "normal_snow") if isinstance(part := water[name], NormalWater)}
    missing = {f"{name}.percent_of_normal": HARDLY_ANY for name, of in normal.items() if None in of.percent_of_normal}
    return StorageOfRun(
        **header_of_days(latest, at),
        units=dict.fromkeys(("at_t0", "total", "snow", *_BESIDE), "mm"),
        **water,
        snow_skill=skill,
        missing=texts(missing | ({} if skill else {"snow_skill": absent(Reason.SNOW_NOT_SCORED)})),
    )


def _water(session: Session, latest: Latest, series: Mapping[str, RunSeries]) -> dict[str, Any]:
    version, basin = latest.run.version_id, latest.basin.basin_id
    water = stored_water(series, latest.basin)
    past = simulated_series.storage_of(session, version, basin)
    water["normal_total"] = past if isinstance(past, Absent) else _normal(_means(latest, past)[1:], water["total"])
    if isinstance(water["snow"], Absent):
        return water | dict.fromkeys(("other", "normal_snow"), water["snow"])
    of_all, of_snow = (over_members(series[name], latest.basin.summary.parts) for name in ("storage", "snow"))
    return water | {
        "other": json_numbers.column(of_all - of_snow),
        "normal_snow": _normal_snow(session, latest, water["snow"]),
    }


def _normal_snow(session: Session, latest: Latest, snow: Sequence[float]) -> NormalWater | Absent:
    """Return the normal of snow by the cells of the run; null where the run has no normal at T0."""
    summary, basin = latest.basin.summary, latest.basin.basin_id
    at_t0 = latest.basin.why(summary.snow) if isinstance(summary.snow, Absent) else summary.snow.normal_mm
    if isinstance(at_t0, Absent):
        return at_t0
    weights = {part.version: part.weight for part in summary.parts} or {latest.run.version_id: 1.0}
    normal = np.zeros(latest.run.horizon_days + 1)
    for version, weight in weights.items():
        past = simulated_series.snow_of(session, version, basin, mapping(session, version, basin))
        if isinstance(past, Absent):
            return past
        normal += weight / sum(weights.values()) * _means(latest, past)
    if not np.isnan(normal[0]) and not np.isclose(normal[0], at_t0, rtol=SAME_NORMAL):
        return absent(Reason.SNOW_NORMAL_CHANGED)
    return _normal(normal[1:], snow)


def _means(latest: Latest, past: SimulatedWater) -> npt.NDArray[np.float64]:
    """Return the normal of T0 and of the days ahead, NaN on days of too few years."""
    return normal_means(past.values, past.period, latest.run.t0 + np.arange(latest.run.horizon_days + 1))


def _normal(normal: npt.NDArray[np.float64], stored: Sequence[float]) -> NormalWater | Absent:
    if lacking := int(np.isnan(normal).sum()):
        return too_few_years(lacking, len(normal))
    enough = normal >= MIN_MM
    percent = np.where(enough, 100 * np.asarray(stored) / np.where(enough, normal, 1), np.nan)
    return NormalWater(water=json_numbers.column(normal), percent_of_normal=json_numbers.gappy_column(percent))


TABLE = run_table("storage", "Water stored in {0.basin}")
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
    return answer.of_basin(storage(session, *asked, past_days), TABLE)
