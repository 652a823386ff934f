"""/v1/basins/{basin}/what-if: what-if runs compared with the runs without their changes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import Column, Table, numbers
from app.forecasts.balance import WaterBalance, water_balance
from app.forecasts.discharge import DischargeUnits, in_units
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.schemas import DaysOfRun
from app.forecasts.table import day_columns, run_columns
from app.http import json_numbers
from app.http.base_schema import Missing, Model, column
from app.http.conditional import FOR_EVER, SHORTLY
from app.http.dependencies import KnownBasin, Reading, ServiceClock
from app.http.discharge_units import NoArea
from app.http.json_numbers import rounded
from app.http.problems import refused
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from jobspec.fields import ID
from records.basins.basins import Site, UnknownBasin
from records.forecasts.latest import Latest, result_of
from records.runs import run_arrays, run_types, runs
from records.runs.run_types import UnknownRun


class Flow(Model):
    """Discharge of the members, and of their traces of weather, in the requested unit, not calibrated."""

    mean: list[float] = Field(description=column("Their mean"))
    p05: list[float] = Field(description=column("Their 5 % quantile"))
    p95: list[float] = Field(description=column("Their 95 % quantile"))


class Volume(Model):
    """Outflow over the horizon, mean of the members and their traces."""

    depth: float = Field(description="mm over the basin.")
    volume: float | None = Field(description="m³.")


class Side(Model):
    """The result of one of the two runs."""

    run: str
    discharge: Flow
    volume: Volume
    water_balance: WaterBalance | None


class WhatIfOfRun(DaysOfRun):
    """A what-if run and the run without its changes, side by side."""

    base: Side | None = Field(description="Without the changes.")
    changed: Side | None = Field(description="With them.")
    difference: Volume | None = Field(description="Additional outflow with the changes; negative: less.")
    missing: Missing


LOW, HIGH = (run_types.QUANTILES.index(level) for level in (0.05, 0.95))
WANTED = ("discharge", run_arrays.MEAN_OF_MEMBERS, "discharge_quantiles", run_arrays.LEDGER)
NO_AREA = absent(Reason.RUN_WITHOUT_AREA)


def compared_runs(session: Session, run: str | None, basin: str, units: Units, at: datetime) -> WhatIfOfRun:
    """Return a what-if run's result for a stored basin, with its base run's.

    A run without changes, and so without a base, is compared with itself.

    Args:
        run: None for the newest that is available at an instant.
    """
    changed = result_of(session, run or runs.newest_changed(session, basin, at).id, basin)
    asked = changed.run.what_if
    if asked is None:
        detail = f"{run} is not a what-if run but {changed.run.purpose}: list what-if runs (/v1/runs?purpose=what-if)"
        raise refused("run", detail)
    base = changed if asked.base is None else result_of(session, asked.base, basin)
    sides = {"base": _side(session, base, units), "changed": _side(session, changed, units)}
    missing = {f"{name}{field}": why for name, side in sides.items() for field, why in side.missing.items()}
    difference = _difference(sides["base"].answer, sides["changed"].answer)
    if difference is None:
        missing["difference"] = missing.get("base") or missing["changed"]
    elif difference.volume is None:
        missing["difference.volume"] = NO_AREA
    return WhatIfOfRun(
        **header(changed, None),
        **days_ahead(changed.run),
        units={"discharge": units, "depth": "mm", "volume": "m3", "water_balance": "mm"},
        base=sides["base"].answer,
        changed=sides["changed"].answer,
        difference=difference,
        missing=texts(missing_in_header(changed.basin) | missing),
    )


@dataclass(frozen=True, slots=True)
class _Side:
    answer: Side | None
    missing: dict[str, Absent]


def _side(session: Session, of: Latest, units: Units) -> _Side:
    run, basin = of.run, of.basin
    if basin.status != "issued":
        return _Side(None, {"": basin.why_missing})
    series = runs.series_of(session, run.id, basin.basin_id, WANTED)
    mean = run_arrays.mean_of_members(series)
    quantiles = series["discharge_quantiles"].values
    ledgers = runs.ledger_of(session, run.id, basin.basin_id)
    balance = water_balance(ledgers, series.get(run_arrays.LEDGER), basin.spin_up_days)
    volume = _volume(float(mean.sum()), basin.area_m2)
    missing = {}
    if balance is None:
        missing[".water_balance"] = absent(Reason.NOT_CONSERVING)
    if volume.volume is None:
        missing[".volume.volume"] = NO_AREA
    rows = {"mean": mean, "p05": quantiles[LOW], "p95": quantiles[HIGH]}
    flow = Flow(**{name: json_numbers.column(in_units(row, basin, units)) for name, row in rows.items()})
    return _Side(Side(run=run.id, discharge=flow, volume=volume, water_balance=balance), missing)


def _volume(depth_mm: float, area_m2: float | None) -> Volume:
    return Volume(depth=rounded(depth_mm), volume=None if area_m2 is None else rounded(depth_mm / 1000 * area_m2))


def _difference(base: Side | None, changed: Side | None) -> Volume | None:
    if base is None or changed is None:
        return None
    ours, theirs = changed.volume, base.volume
    more = None if ours.volume is None or theirs.volume is None else rounded(ours.volume - theirs.volume)
    return Volume(depth=rounded(ours.depth - theirs.depth), volume=more)


def of_what_if(answer: WhatIfOfRun, sites: Mapping[str, Site]) -> Table:
    """Return the discharge of both runs on the days ahead."""
    rows = len(answer.time)
    columns = [
        *run_columns(answer, sites, rows),
        *day_columns(answer.time, answer.lead_days),
        *_flow("base", "without the changes", answer.base, answer.units["discharge"], rows),
        *_flow("changed", "with the changes", answer.changed, answer.units["discharge"], rows),
    ]
    return Table(f"{answer.basin}_what-if_{answer.run}", f"Discharge of {answer.basin}, what if", columns)


def _flow(name: str, meaning: str, side: Side | None, unit: str, rows: int) -> Iterator[Column]:
    for statistic in Flow.model_fields:
        values = None if side is None else getattr(side.discharge, statistic)
        yield numbers(f"discharge_{name}_{statistic}", f"{statistic} of discharge {meaning}", values, rows, unit)


router = APIRouter(prefix="/basins", tags=["forecasts"])

WhatIfRun = Annotated[
    str | None, Query(description="The id of a what-if run; by default the newest of the basin.", pattern=ID)
]


@router.get(
    "/{basin}/what-if",
    summary="A what-if run compared with its base run",
    **documented_responses(WhatIfOfRun, UnknownBasin, UnknownRun, NoArea, formats=SERIES),
)
def read_what_if(
    session: Reading,
    clock: ServiceClock,
    answer: SeriesAnswer,
    basin: KnownBasin,
    run: WhatIfRun = None,
    units: DischargeUnits = "m3/s",
) -> Response:
    """The discharge of a what-if run and of the run without its changes, day by day; the difference in the volume
    that flows out; and both water balances, in which water added to the basin at T0 is a separate term. A job of
    the kind `what-if` creates such a run, and `/v1/runs?purpose=what-if` lists them. A run never changes, so the answer
    may be cached forever."""
    shown = compared_runs(session, run, basin, units, clock.now())
    return answer.of_basin(shown, of_what_if, cache_control=SHORTLY if run is None else FOR_EVER)
