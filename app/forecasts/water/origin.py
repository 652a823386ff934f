"""/v1/basins/{basin}/origin and /age: where the coming discharge comes from, and when its water fell."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import Table, numbers
from app.forecasts.header import DaysOfRun, header_of_days, run_table
from app.forecasts.lookup import PROBLEMS, AskedRun
from app.forecasts.stored_water import why_no_water
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Missing, Model, Series, column, maybe
from app.http.dependencies import Reading
from hydrology.base.calendar import as_date
from hydrology.water.storage import OLDER, YET_TO_FALL, Ages
from records.basins.basins import Site
from records.forecasts.latest import Latest
from records.runs import run_arrays, run_types, runs

router = APIRouter(prefix="/basins", tags=["water"])
ORIGIN_TABLE = run_table("origin", "Discharge of {0.basin} by the origin of its water")
_PARTS = ("stored", "snow", "other", "yet_to_fall")
_OF_AGE = {OLDER: "water that fell before these seasons", YET_TO_FALL: "water that falls after t0"}


class FlowOfOrigin(Model):
    """The part of each day's discharge with one origin, mm/day."""

    mean: list[float] = Field(description=column("The mean of the members, and of their traces of weather, mm/day"))
    p05: list[float] = Field(description=column("Their 5 % quantile, mm/day. Quantiles do not add up"))
    p95: list[float] = Field(description=column("Their 95 % quantile, mm/day"))


class OriginOfRun(DaysOfRun):
    """The discharge of the days ahead by where its water was at T0, mm/day."""

    ceiling: float | None = Field(
        description="All water stored at T0, mm, mean of the members: the upper limit of its runoff, if none of it "
        "were lost."
    )
    discharge: Annotated[list[float] | None, Series("mean of the members")] = Field(
        description=column(
            "The mean of the members, and of their traces, mm/day; `stored` and `yet_to_fall` add up to it"
        )
    )
    stored: Annotated[
        FlowOfOrigin | None, Series("{} of the water that was in the basin at t0", column="discharge_stored_{}")
    ] = Field(description="Water that was in the basin at T0; `snow` and `other` add up to it.")
    snow: Annotated[
        FlowOfOrigin | None,
        Series("{} of the water that was in the cells that read as snow at t0", column="discharge_snow_{}"),
    ] = Field(description="The part of it that was in the cells that read as snow.")
    other: Annotated[
        FlowOfOrigin | None, Series("{} of the water that was in the other cells at t0", column="discharge_other_{}")
    ] = Field(description="The rest of it.")
    yet_to_fall: Annotated[
        FlowOfOrigin | None, Series("{} of the water that falls after t0", column="discharge_yet_to_fall_{}")
    ] = Field(description="Water that falls after T0, as rain or as snow.")
    missing: Missing = EXPLAINED


class FlowOfAge(Model):
    """The part of each day's discharge of one age, mm/day."""

    age: str = Field(
        description="`older`; one of five meteorological seasons, named after the year in which they end, the last of "
        "them that of T0; or `yet_to_fall`, after T0.",
        examples=["2008-DJF"],
    )
    first_day: date | None = Field(description="The first day on which it fell; null for `older`.")
    last_day: date | None = Field(description="The last day on which it fell; null for `yet_to_fall`.")
    mean: list[float] = Field(description=column("The mean of the members, and of their traces of weather, mm/day"))
    p05: list[float] = Field(description=column("Their 5 % quantile, mm/day. Quantiles do not add up"))
    p95: list[float] = Field(description=column("Their 95 % quantile, mm/day"))


class AgeOfRun(DaysOfRun):
    """The discharge of the days ahead by the season in which its water fell, mm/day."""

    discharge: Annotated[list[float] | None, Series("mean of the members")] = Field(
        description=column("The mean of the members, and of their traces, mm/day; the means of all ages add up to it")
    )
    ages: list[FlowOfAge] | None = Field(description="The parts of it by age, the oldest first.")
    missing: Missing = EXPLAINED


def origin(session: Session, latest: Latest, at: datetime | None) -> OriginOfRun:
    """Return the discharge by origin of its water; `at`: clock time for a latest answer."""
    run, basin = latest.run, latest.basin
    wanted = (run_types.ORIGIN, "cells_at_t0")
    series = runs.series_of(session, run.id, basin.basin_id, wanted) if basin.status == "issued" else {}
    fields: dict[str, Any] = {}
    if run_types.ORIGIN in series:
        parts = _parts(series[run_types.ORIGIN])
        held = series["cells_at_t0"].values.sum(axis=1, dtype=np.float64)
        weighted = basin.summary.storage_mm if basin.summary.parts else None
        fields["ceiling"] = json_numbers.rounded(float(held.mean()) if weighted is None else weighted)
        fields["discharge"] = json_numbers.column(np.add(parts["stored"].mean, parts["yet_to_fall"].mean))
        fields |= dict.fromkeys(_PARTS, basin.why(basin.summary.snow)) | parts
    else:
        fields |= dict.fromkeys(("ceiling", "discharge", *_PARTS), why_no_water(session, latest))
    return OriginOfRun(
        **header_of_days(latest, at),
        units={"ceiling": "mm"} | dict.fromkeys(("discharge", *_PARTS), "mm/day"),
        **fields,
    )


def age(session: Session, latest: Latest, at: datetime | None) -> AgeOfRun:
    """Return the discharge by age of its water; `at`: clock time for a latest answer."""
    run, basin = latest.run, latest.basin
    series = runs.series_of(session, run.id, basin.basin_id, (run_types.AGE,)) if basin.status == "issued" else {}
    stored = series.get(run_types.AGE)
    ages = basin.why(basin.summary.age_reason) if stored is None else _ages(stored, Ages(run.t0))
    return AgeOfRun(
        **header_of_days(latest, at),
        units=dict.fromkeys(("discharge", "ages"), "mm/day"),
        discharge=maybe(ages, lambda parts: json_numbers.column(np.sum([part.mean for part in parts], axis=0))),
        ages=maybe(ages),
    )


def _ages(series: run_arrays.RunSeries, ages: Ages) -> list[FlowOfAge]:
    statistics = series.axes["statistic"]
    return [
        FlowOfAge(
            age=name,
            first_day=None if first is None else as_date(first),
            last_day=None if last is None else as_date(last),
            **{of: json_numbers.column(row) for of, row in zip(statistics, rows, strict=True)},
        )
        for name, (first, last), rows in zip(series.axes["age"], ages.ends, series.values, strict=True)
    ]


def _parts(series: run_arrays.RunSeries) -> dict[str, FlowOfOrigin]:
    statistics = series.axes["statistic"]
    return {
        name: FlowOfOrigin(**{of: json_numbers.column(row) for of, row in zip(statistics, rows, strict=True)})
        for name, rows in zip(series.axes["origin"], series.values, strict=True)
    }


def _table_of_ages(answer: AgeOfRun, sites: Mapping[str, Site]) -> Table:
    table = run_table("age", "Discharge of {0.basin} by the age of its water")(answer, sites)
    parts = [
        numbers(
            f"discharge_{part.age.lower().replace('-', '_')}_{statistic}",
            f"{statistic} of the {_OF_AGE.get(part.age, f'water that fell in {part.age}')}",
            getattr(part, statistic),
            len(answer.time),
            "mm/day",
        )
        for part in answer.ages or []
        for statistic in FlowOfOrigin.model_fields
    ]
    return replace(table, columns=[*table.columns, *parts])


@router.get(
    "/{basin}/origin",
    summary="Origin of the coming discharge: stored water or future rain",
    **documented_responses(OriginOfRun, *PROBLEMS, formats=SERIES),
)
def read_origin(session: Reading, answer: SeriesAnswer, asked: AskedRun) -> Response:
    """The discharge of each day ahead by the place of its water at T0, mm/day: stored in the basin, as snow or
    otherwise, or yet to fall. The model's own water is traced through its cells. Water in the cells read as snow counts
    as snow; the model was not trained on it. Null, with the reason, for networks that do not conserve mass; without
    snow cells, stored water is one part."""
    return answer.of_basin(origin(session, *asked), ORIGIN_TABLE)


@router.get(
    "/{basin}/age",
    summary="Age of the coming discharge, by season of precipitation",
    **documented_responses(AgeOfRun, *PROBLEMS, formats=SERIES),
)
def read_age(session: Reading, answer: SeriesAnswer, asked: AskedRun) -> Response:
    """The discharge of each day ahead by the season in which its water fell, mm/day: in that of T0, in one of the four
    before it, earlier, or after T0. The model's own water is traced through its cells from more than a year before T0.
    Null, with the reason, if the run did not request it (`age` of a job `forecast`), if the record is shorter than a
    year, and for networks that do not conserve mass."""
    return answer.of_basin(age(session, *asked), _table_of_ages)
