"""Adjustments of issued forecasts as answers and files show them."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.table import NOWHERE, Table, basin_columns, constant, day_columns, numbers
from app.forecasts.discharge import ANSWER_LEVELS, in_units, level_name, usual_units
from app.forecasts.header import Columns, Days, FieldUnits, GappyColumns, LeadDays, days_ahead
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Missing, Model, OfBasin, column, maybe, next_page
from app.http.json_numbers import gappy_column, rounded
from hydrology.alerts import WINDOW_DAYS
from hydrology.base.absent import Absent
from hydrology.base.calendar import as_date
from hydrology.base.doc import Why
from hydrology.base.units import Units
from hydrology.uncertainty.exceedance import Direction
from records.basins.basins import Site
from records.database.stored import as_values
from records.outlooks.outlooks import read_chances
from records.runs import run_arrays, run_types, runs
from records.runs.tables import Adjustment as StoredAdjustment

_DRAFT = Why("It is a draft.")


class Adjustment(OfBasin):
    """What a forecaster changes of an issued forecast of a basin."""

    id: str
    run: str
    t0: date
    state: Literal["draft", "published"] = Field(description="`draft`: only forecasters see it.")
    factor: float = Field(description="Multiplies the flow of every day and of every quantile.")
    shift_days: int = Field(description="Moves the flow to this many days later; earlier where negative.")
    chances: dict[str, float] = Field(description="By level: the chance of passing it that the forecaster set.")
    words: str = Field(description="The reason, in the forecaster's own words.")
    author: str = Field(description="Who drafted it: the name of a key.")
    created_at: datetime
    publisher: Annotated[str | None, _DRAFT] = Field(description="Who published it.")
    published_at: Annotated[datetime | None, _DRAFT]
    note: Annotated[str | None, Why("There is none.")] = Field(description="The publisher's.")
    missing: Missing = EXPLAINED


class AdjustmentPage(Model):
    """Adjustments, the newest draft first."""

    adjustments: list[Adjustment]
    next: str | None = next_page("/v1/adjustments?limit=100&after=01a1fa31d0a6718d9e12f4")


class AdjustedLevel(Model):
    """The chance of passing a level within the alerts' window."""

    level: str
    direction: Direction
    discharge: float = Field(description="m³/s.")
    issued: float = Field(description="As computed.")
    adjusted: float = Field(description="By the adjusted flow, or as the forecaster set it.")


class AdjustedForecast(Adjustment):
    """A forecast as issued and as adjusted, side by side."""

    units: FieldUnits
    time: Days
    lead_days: LeadDays
    flow_of: Literal["calibrated", "discharge"] = Field(
        description="What is adjusted: the calibrated quantiles, or without them those of the members."
    )
    issued: Columns = Field(description=column("The quantiles as issued, in the requested unit"))
    adjusted: GappyColumns = Field(description=column("The same as adjusted; null on days that no flow is moved to"))
    window_days: int = Field(description="Number of days after T0 that the chances cover.")
    levels: list[AdjustedLevel] | None = Field(description="In the order of their names; null without a calibration.")


def adjustment_answer(session: Session, stored: StoredAdjustment) -> Adjustment:
    """Return an adjustment."""
    return Adjustment(**_fields(session, stored))


def adjusted_forecast(session: Session, stored: StoredAdjustment, units: Units | None = None) -> AdjustedForecast:
    """Return a forecast as issued and as adjusted. By default in m3/s, or in mm/day where the run names no area."""
    run, basin = runs.get(session, stored.run_id), runs.basin_of(session, stored.run_id, stored.basin_id)
    units = units or usual_units(basin)
    series = runs.series_of(session, run.id, basin.basin_id, (run_arrays.CALIBRATED, "discharge_quantiles"))
    flow_of: Literal["calibrated", "discharge"] = "calibrated" if run_arrays.CALIBRATED in series else "discharge"
    flow = series[run_arrays.CALIBRATED if flow_of == "calibrated" else "discharge_quantiles"]
    shown = [at for at, level in enumerate(flow.axes["level"]) if level in ANSWER_LEVELS]
    names = [level_name(flow.axes["level"][at]) for at in shown]
    issued = in_units(flow.values[shown], basin, units)
    adjusted = stored.of_flow.adjusted(issued)
    return AdjustedForecast(
        **_fields(session, stored),
        units={"issued": units, "adjusted": units},
        **days_ahead(run),
        flow_of=flow_of,
        issued={name: json_numbers.column(row) for name, row in zip(names, issued, strict=True)},
        adjusted={name: gappy_column(row) for name, row in zip(names, adjusted, strict=True)},
        window_days=min(run.horizon_days - run.filled_days, WINDOW_DAYS),
        levels=maybe(_levels(session, stored, run, basin)),
    )


def _fields(session: Session, stored: StoredAdjustment) -> dict[str, Any]:
    fields = as_values(stored, "basin_id", "run_id", "key_id", "levels", "alerts_at")
    return fields | {
        "basin": stored.basin_id,
        "run": stored.run_id,
        "t0": as_date(runs.get(session, stored.run_id).t0),
        "state": "draft" if stored.published_at is None else "published",
    }


def _levels(
    session: Session, stored: StoredAdjustment, run: run_types.Run, basin: run_types.RunBasin
) -> list[AdjustedLevel] | Absent:
    if stored.levels is not None:
        return [AdjustedLevel(**level) for level in stored.levels]
    issued = read_chances(session, run, basin, None).chances
    if isinstance(issued, Absent):
        return issued
    adjusted = read_chances(session, run, basin, stored).chances
    assert not isinstance(adjusted, Absent)  # both come from the same run
    pairs = sorted(zip(issued, adjusted, strict=True), key=lambda pair: pair[0].level)
    return [
        AdjustedLevel(
            level=before.level,
            direction=before.direction,
            discharge=rounded(before.discharge),
            issued=rounded(before.chance),
            adjusted=rounded(after.chance),
        )
        for before, after in pairs
    ]


def of_adjusted(answer: AdjustedForecast, sites: Mapping[str, Site]) -> Table:
    """Return each quantile as issued and as adjusted for each day."""
    rows = len(answer.time)
    columns = [
        *basin_columns(answer.basin, sites.get(answer.basin, NOWHERE), rows),
        constant("adjustment", "identifier of the adjustment", "text", answer.id, rows),
        constant("run", "identifier of the run", "text", answer.run, rows),
        constant("publisher", "who published it", "text", answer.publisher, rows),
        *day_columns(answer.time, answer.lead_days),
    ]
    for name, issued in answer.issued.items():
        unit = answer.units["issued"]
        columns.append(numbers(f"issued_{name}", f"{name} of discharge as issued", issued, rows, unit))
        columns.append(numbers(f"adjusted_{name}", f"{name} as adjusted", answer.adjusted[name], rows, unit))
    return Table(f"{answer.basin}_adjusted_{answer.t0}", f"Adjusted forecast of {answer.basin}", columns)
