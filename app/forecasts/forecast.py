"""Builds the forecast of a basin from a stored run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
from pydantic import Field
from sqlalchemy.orm import Session

from app.forecasts import words
from app.forecasts.balance import WaterBalance, water_balance
from app.forecasts.discharge import (
    Calibration,
    NormalFlow,
    Representation,
    calibrated_columns,
    calibration_of,
    in_units,
    level_name,
    missing_in_normal,
    normal_flow,
    quantiles_in_units,
)
from app.forecasts.header import days_ahead, header, missing_in_header, what_if
from app.forecasts.schemas import Columns, Days, FieldUnits, GappyColumns, LeadDays, RunOfBasin
from app.forecasts.stored_water import Storage, _mean, missing_in_snow, storage_of, why_no_account, why_no_snow
from app.http import json_numbers
from app.http.base_schema import Area, Missing, Model, Program, column
from hydrology.base import units as convert
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.calendar import as_date
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from hydrology.outlook.days_ahead import LEVELS
from records.adjustments import adjustments
from records.forecasts.latest import Latest
from records.outlooks import outlooks
from records.outlooks.run_outlook import RunOutlook
from records.runs import run_arrays, run_types, runs
from records.runs.run_summary import NOT_STORED
from records.runs.run_types import QUANTILES_NOTE, QuantilesOf
from records.versions import versions


class ParentState(Model):
    """The stored state that the run started from."""

    day: date = Field(description="The last day of weather in it.")
    hash: str


class Provenance(Model):
    """Identifiers of the run's inputs: equal hashes give equal numbers, to the last digit if the program is the
    same."""

    weights_hash: str
    code_version: str
    program: Program
    parent_state: ParentState | None
    state_hash: str | None = Field(description="Hash of the state at T0.")
    inputs_hash: str | None = Field(description="Hash of the weather and attributes used.")
    created_at: datetime = Field(description="When it was computed, by the machine's clock.")


class BasinForecast(RunOfBasin):
    """The result of a run for a basin."""

    filled_forcing: dict[str, int] = Field(
        description="Number of missing weather values interpolated, or filled by the stated rule of their source "
        "(Daymet lacks 31 December of leap years), by variable; of all products together."
    )
    skipped_days: int = Field(
        description="Number of days without weather that the network skipped; 0 for a network that skips none. Of a "
        "version that combines others, the largest number of one of them."
    )
    area: Area | None
    units: FieldUnits
    time: Days
    lead_days: LeadDays
    in_words: str | None = Field(description="A summary of the published forecast in a few sentences.")
    published: GappyColumns | None = Field(
        description=column(
            "In the requested unit, the flow to use, as in `/v1/basins/{basin}/outlook`: as a forecaster adjusted it, "
            "else `calibrated`, else the members'. Null on days that had ended at issue, and on those that an "
            "adjustment moves no flow to"
        )
    )
    adjustment: str | None = Field(
        default=None, description="The published adjustment that `published` and `in_words` follow. Only there."
    )
    calibrated: Columns | None = Field(
        description=column(
            "In the requested unit, as issued: discharge corrected by the errors of past forecasts and the last "
            "observed flow. `p10`: lower with a chance of 10 %. The correction adds or removes water, so no balance "
            "closes"
        )
    )
    calibration: Calibration | None = Field(description="The basis of `calibrated`.")
    quantiles_of: QuantilesOf = Field(
        description="Origin of the quantiles of `discharge`, not calibrated. `members`: the spread of the "
        "ensemble's members. `members and traces`: of every member with every trace of weather."
    )
    discharge: Columns | None = Field(
        description=column(
            "In the requested unit: `median`, and quantiles of the members named by the percentage at "
            f"or below (`p10`: a tenth of the members). {QUANTILES_NOTE}"
        )
    )
    normal: NormalFlow | None = Field(
        description="Normal flow for these days, as known when the run was issued "
        "(`/v1/basins/{basin}/normals` has the method and quantiles)."
    )
    members: Columns = Field(
        default={},
        description=column(
            "Discharge of each member, or of each member with each trace as `MEMBER/TRACE`. Only with `members=true`"
        ),
    )
    storage: Storage | None = Field(description="Water in the basin.")
    cells_at_t0: Columns = Field(
        default={}, description="Water in each cell of each member at T0, mm. Only with `members=true`."
    )
    precipitation: list[float] | None = Field(description=column("Rain and snow, mm/day, the mean of the traces"))
    loss: list[float] | None = Field(
        description=column("Water lost other than through the river, mm/day, mean of the members")
    )
    water_balance: WaterBalance | None
    provenance: Provenance
    missing: Missing


class WithoutForecast(Model):
    """A requested basin that has no forecast."""

    basin: str
    type: str = Field(description="The type of the problem that the basin's own latest forecast would return.")
    reason: str


class BasinForecasts(Model):
    """The latest forecasts of many basins: every basin asked for is in `forecasts` or in `without`."""

    forecasts: list[BasinForecast] = Field(description="In the requested order.")
    without: list[WithoutForecast] = Field(description="Basins without a forecast, and why.")


Array = npt.NDArray[np.float64]

WITHOUT_MEMBERS = (
    *("discharge_quantiles", run_arrays.CALIBRATED, run_arrays.NORMAL, "precipitation", "loss", "storage", "snow"),
    run_types.SNOW_SPREAD,
    run_arrays.LEDGER,
)


@dataclass(frozen=True, slots=True)
class StoredParts:
    """Stored arrays of a run for a basin, besides its row, and its outlook."""

    series: Mapping[str, run_arrays.RunSeries]
    ledgers: Sequence[run_arrays.Ledger]
    conserving: bool
    outlook: RunOutlook | Absent


class MemberColumns(TypedDict, total=False):
    """Fields of a forecast included on request."""

    members: Columns
    cells_at_t0: Columns


def stored_parts(session: Session, forecasts: Sequence[Latest], members: bool) -> list[StoredParts]:
    """Read the stored arrays of many basins, each of its own run, at once."""
    keys = [(forecast.run.id, forecast.basin.basin_id) for forecast in forecasts]
    contents = runs.content_of_many(session, keys, None if members else WITHOUT_MEMBERS)
    conserving = versions.conserving(session, list({forecast.run.version_id for forecast in forecasts}))
    named = {key: forecast.adjustment for key, forecast in zip(keys, forecasts, strict=True)}
    adjusted = {key: adjustments.get(session, name) for key, name in named.items() if name is not None}
    of_runs = outlooks.of_runs(session, [(forecast.run, forecast.basin) for forecast in forecasts], adjusted)
    return [
        StoredParts(
            series=_answered_content(forecast, contents[key]),
            ledgers=contents[key].ledgers,
            conserving=conserving[forecast.run.version_id],
            outlook=of_runs[key],
        )
        for key, forecast in zip(keys, forecasts, strict=True)
    ]


def _answered_content(forecast: Latest, content: run_arrays.Content) -> Mapping[str, run_arrays.RunSeries]:
    if forecast.basin.status == "issued":
        return content.series
    return {name: series for name, series in content.series.items() if name == run_arrays.LEDGER}


def basin_forecast(latest: Latest, parts: StoredParts, representation: Representation) -> BasinForecast:
    """Return the forecast of a basin."""
    run, basin, series, issued = latest.run, latest.basin, parts.series, latest.basin.status == "issued"
    discharge = quantiles_in_units(series["discharge_quantiles"], basin, representation) if issued else None
    calibrated = calibrated_columns(series.get(run_arrays.CALIBRATED), basin, representation)
    calibration = None if calibrated is None else calibration_of(run, basin, representation)
    normal = normal_flow(
        series.get(run_arrays.NORMAL), basin, representation, discharge, calibrated, past=run.filled_days
    )
    storage = storage_of(series, basin)
    precipitation = _of_traces(series["precipitation"], basin) if "precipitation" in series else None
    loss = _mean(series["loss"], basin) if "loss" in series else None
    balance = water_balance(parts.ledgers, series.get(run_arrays.LEDGER), basin.spin_up_days)
    published = None if discharge is None else _published(parts.outlook, latest, representation.units)
    in_words = None
    if discharge is not None:
        days, flow = _days_in_words(run, published or calibrated or discharge)
        in_words = words.in_words(
            t0=as_date(run.t0),
            days=days,
            discharge=flow,
            calibrated=None if calibrated is None else flow,
            calibration=calibration,
            storage=storage,
            weather=run.forcing_kind,
            units=representation.units,
            peak=_peak(parts.outlook, latest, representation.units),
            what_if=None if (asked := what_if(run)) is None else asked.in_words,
        )
    account: dict[str, Any] = {
        "discharge": discharge,
        "published": published,
        "in_words": in_words,
        "storage": storage,
        "precipitation": precipitation,
        "loss": loss,
        "water_balance": balance,
    }
    with_members = representation.members and "discharge" in series
    of_members = _member_columns(series, basin, representation.units) if with_members else MemberColumns()
    if latest.adjustment is not None:
        account["adjustment"] = latest.adjustment
    missing = _missing_in_account(basin, parts, account, calibrated, storage)
    if basin.pruned is not None and issued:
        missing |= _pruned(basin.pruned, precipitation, representation)
    return BasinForecast(
        **header(latest, representation.at),
        **days_ahead(run),
        filled_forcing=dict(basin.summary.filled_forcing),
        skipped_days=basin.summary.skipped_days,
        area=_area(basin),
        units=_units(representation),
        quantiles_of=run.quantiles_of,
        calibrated=calibrated,
        calibration=calibration,
        normal=normal,
        provenance=_provenance(run, basin),
        missing=texts(
            missing_in_header(basin) | missing | missing_in_normal(normal, basin) | _missing_provenance(basin)
        ),
        **account,
        **of_members,
    )


def forecast_of(session: Session, latest: Latest, representation: Representation) -> BasinForecast:
    """Read the forecast of a basin and return it."""
    (parts,) = stored_parts(session, [latest], representation.members)
    return basin_forecast(latest, parts, representation)


def _missing_in_account(
    basin: run_types.RunBasin,
    parts: StoredParts,
    account: Mapping[str, Any],
    calibrated: Columns | None,
    storage: Storage | None,
) -> dict[str, Absent]:
    """Return the reasons of the null fields of a forecast's water, by field."""
    reason, outlook = why_no_account(basin, parts.conserving), parts.outlook
    missing = {name: reason for name, value in account.items() if value is None}
    if account["discharge"] is not None and isinstance(outlook, Absent):
        missing["published"] = outlook
    if calibrated is None:
        missing |= dict.fromkeys(("calibrated", "calibration"), basin.why_not_calibrated)
    if storage is not None:
        missing |= missing_in_snow(storage.snow_read, basin, "storage.snow_read")
        if storage.at_t0 is None:
            missing["storage.at_t0"] = NOT_STORED
        if storage.snow is None:
            missing["storage.snow"] = why_no_snow(basin)
    return missing


def _peak(outlook: RunOutlook | Absent, latest: Latest, units: Units) -> words.Peak | None:
    """Return the published peak of a run; None where there is none."""
    peak = outlook if isinstance(outlook, Absent) else outlook.published.peak
    if isinstance(peak, Absent):
        return None
    (height,) = json_numbers.column(in_units(np.array([peak.height]), latest.basin, units))
    return height, as_date(latest.run.t0) + timedelta(days=peak.lead)


def _published(outlook: RunOutlook | Absent, latest: Latest, units: Units) -> GappyColumns | None:
    """Return the quantiles of the published flow, on the days of the run."""
    if isinstance(outlook, Absent):
        return None
    days = outlook.published.days
    flows = np.full((len(LEVELS), latest.run.horizon_days), np.nan)
    flows[:, np.array(days.leads) - 1] = np.array(days.quantiles, dtype=np.float64)
    shown = in_units(flows, latest.basin, units)
    return {level_name(level): json_numbers.gappy_column(row) for level, row in zip(LEVELS, shown, strict=True)}


def _days_in_words(run: run_types.Run, flows: Mapping[str, Sequence[float | None]]) -> tuple[list[date], Columns]:
    """Return the days to come with flow, and the flow."""
    known = [lead for lead, flow in enumerate(flows["median"]) if lead >= run.filled_days and flow is not None]
    days = days_ahead(run)["time"]
    of_days = {name: [float(values[lead] or 0.0) for lead in known] for name, values in flows.items()}
    return [days[lead] for lead in known], of_days


def _pruned(why: Absent, precipitation: list[float] | None, representation: Representation) -> dict[str, Absent]:
    names = [*([] if precipitation else ["precipitation"]), *(["members"] if representation.members else [])]
    return dict.fromkeys(names, why)


def _member_columns(
    series: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin, units: Units
) -> MemberColumns:
    flows = series["discharge"]
    columns = MemberColumns(members=_by_label(flows, in_units(flows.values, basin, units)))
    if "cells_at_t0" in series:
        columns["cells_at_t0"] = _by_label(series["cells_at_t0"], series["cells_at_t0"].values)
    return columns


def _missing_provenance(basin: run_types.RunBasin) -> dict[str, Absent]:
    missing = {}
    if basin.area_m2 is None:
        missing["area"] = absent(Reason.NO_PRODUCT_AREA_AT_RUN)
    if basin.parent_day is None:
        missing["provenance.parent_state"] = basin.reason or absent(Reason.EMPTY_STORE)
    for name in ("state_hash", "inputs_hash"):
        if getattr(basin, name) is None:
            missing[f"provenance.{name}"] = basin.why_missing
    return missing


def _units(representation: Representation) -> dict[str, str]:
    discharge = representation.units
    units = {
        "discharge": discharge,
        "calibrated": discharge,
        "normal": discharge,
        "storage": "mm",
        "precipitation": "mm/day",
        "loss": "mm/day",
    }
    of_members = {"members": discharge, "cells_at_t0": "mm"} if representation.members else {}
    return units | {"water_balance": "mm"} | of_members


def _of_traces(series: run_arrays.RunSeries, basin: run_types.RunBasin) -> list[float]:
    """Return values of each lead; with traces, their mean."""
    return _mean(series, basin) if "trace" in series.axes else json_numbers.column(series.values)


def _by_label(series: run_arrays.RunSeries, values: npt.NDArray[Any]) -> Columns:
    labels = [str(label) for label in series.axes["member"]]
    if "trace" in series.axes:
        labels = [f"{member}/{trace}" for member in labels for trace in series.axes["trace"]]
    return {label: json_numbers.column(row) for label, row in zip(labels, values.reshape(len(labels), -1), strict=True)}


def _area(basin: run_types.RunBasin) -> Area | None:
    if basin.area_m2 is None or basin.area_name is None:
        return None
    return Area.of(convert.Area(basin.area_name, basin.area_m2))


def _provenance(run: run_types.Run, basin: run_types.RunBasin) -> Provenance:
    parent = None
    if basin.parent_day is not None and basin.parent_hash is not None:
        parent = ParentState(day=as_date(basin.parent_day), hash=basin.parent_hash)
    return Provenance(
        weights_hash=run.weights_hash,
        code_version=run.code_version,
        program=run.program,
        parent_state=parent,
        state_hash=basin.state_hash,
        inputs_hash=basin.inputs_hash,
        created_at=run.created_at,
    )
