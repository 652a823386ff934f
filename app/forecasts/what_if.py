"""/v1/basins/{basin}/what-if: what-if runs compared with the runs without their changes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.answers import SeriesAnswer, documented_responses
from app.exports.formats import SERIES
from app.exports.table import Table, table_of
from app.forecasts.discharge import DischargeUnits, in_units
from app.forecasts.header import DaysOfRun, header_of_days
from app.forecasts.water.balances import WaterBalance, water_balance
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Missing, Model, Series, column, maybe
from app.http.conditional import FOR_EVER, SHORTLY
from app.http.dependencies import KnownBasin, Reading, ServiceClock
from app.http.problems import refused
from hydrology.base.absent import Absent, absent
from hydrology.base.reasons import Reason
from hydrology.base.units import NoArea, Units
from jobspec.fields import ID
from records.basins.basins import Site, UnknownBasin
from records.forecasts.latest import Latest, result_of
from records.runs import run_arrays, run_types, runs


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
    discharge: Annotated[Flow, Series("{}", column="{}")]
    volume: Volume
    water_balance: WaterBalance | None


class WhatIfOfRun(DaysOfRun):
    """A what-if run and the run without its changes, side by side."""

    base: Annotated[
        Side | None, Series("{} of discharge without the changes", unit_of="discharge", column="discharge_base_{}")
    ] = Field(description="Without the changes.")
    changed: Annotated[
        Side | None, Series("{} of discharge with the changes", unit_of="discharge", column="discharge_changed_{}")
    ] = Field(description="With them.")
    difference: Volume | None = Field(description="Additional outflow with the changes; negative: less.")
    missing: Missing = EXPLAINED


LOW, HIGH = (run_types.QUANTILES.index(level) for level in (0.05, 0.95))
WANTED = ("discharge", run_arrays.MEAN_OF_MEMBERS, "discharge_quantiles", run_arrays.LEDGER)


def compared_runs(session: Session, run: str | None, basin: str, units: Units, at: datetime) -> WhatIfOfRun:
    """Return a what-if run (None: the newest available) with its base run; one without changes is its own base."""
    changed = result_of(session, run or runs.newest_changed(session, basin, at).id, basin)
    asked = changed.run.what_if
    if asked is None:
        detail = f"{run} is not a what-if run but {changed.run.purpose}: list what-if runs (/v1/runs?purpose=what-if)"
        raise refused("run", detail)
    base = changed if asked.base is None else result_of(session, asked.base, basin)
    sides = [_side(session, result, units) for result in (base, changed)]
    return WhatIfOfRun(
        **header_of_days(changed, None),
        units={"discharge": units, "depth": "mm", "volume": "m3", "water_balance": "mm"},
        base=maybe(sides[0]),
        changed=maybe(sides[1]),
        difference=maybe(_difference(*sides)),
    )


def _side(session: Session, of: Latest, units: Units) -> Side | Absent:
    run, basin = of.run, of.basin
    if basin.status != "issued":
        return basin.why_missing
    series = runs.series_of(session, run.id, basin.basin_id, WANTED)
    mean, quantiles = run_arrays.mean_of_members(series), series["discharge_quantiles"].values
    rows = {"mean": mean, "p05": quantiles[LOW], "p95": quantiles[HIGH]}
    balance = water_balance(
        runs.ledger_of(session, run.id, basin.basin_id), series.get(run_arrays.LEDGER), basin.spin_up_days
    )
    return Side(
        run=run.id,
        discharge=Flow(**{name: json_numbers.column(in_units(row, basin, units)) for name, row in rows.items()}),
        volume=_volume(float(mean.sum()), basin.area_m2),
        water_balance=maybe(balance or absent(Reason.NOT_CONSERVING)),
    )


def _volume(depth_mm: float, area_m2: float | None) -> Volume:
    volume = absent(Reason.RUN_WITHOUT_AREA) if area_m2 is None else depth_mm / 1000 * area_m2
    return Volume(depth=json_numbers.rounded(depth_mm), volume=maybe(volume, json_numbers.rounded))


def _difference(base: Side | Absent, changed: Side | Absent) -> Volume | Absent:
    if isinstance(base, Absent):
        return base
    if isinstance(changed, Absent):
        return changed
    ours, theirs = changed.volume, base.volume
    no_area = ours.volume is None or theirs.volume is None
    volume = absent(Reason.RUN_WITHOUT_AREA) if no_area else (ours.volume or 0) - (theirs.volume or 0)
    return Volume(depth=json_numbers.rounded(ours.depth - theirs.depth), volume=maybe(volume, json_numbers.rounded))


def _table(answer: WhatIfOfRun, sites: Mapping[str, Site]) -> Table:
    return table_of(answer, f"{answer.basin}_what-if_{answer.run}", f"Discharge of {answer.basin}, what if", sites)


router = APIRouter(prefix="/basins", tags=["forecasts"])

WhatIfRun = Annotated[
    str | None, Query(description="The id of a what-if run; by default the newest of the basin.", pattern=ID)
]


@router.get(
    "/{basin}/what-if",
    summary="A what-if run compared with its base run",
    **documented_responses(WhatIfOfRun, UnknownBasin, run_types.UnknownRun, NoArea, formats=SERIES),
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
    return answer.of_basin(shown, _table, cache_control=SHORTLY if run is None else FOR_EVER)
