"""The forecast of a basin, from a stored run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import Field
from sqlalchemy.orm import Session

from app.exports.table import RIVER_FLOW
from app.forecasts import header, words
from app.forecasts.discharge import (
    ANSWER_LEVELS,
    CALIBRATED,
    PUBLISHED,
    UNCALIBRATED,
    Calibration,
    NormalFlow,
    PeakOfRun,
    Representation,
    calibrated_columns,
    calibration_of,
    in_units,
    level_name,
    normal_flow,
    peak_of_run,
    quantile_series,
    quantiles_in_units,
)
from app.forecasts.stored_water import Storage, mean_of_members, stored_water, why_no_account
from app.forecasts.water.balances import WaterBalance, water_balance
from app.http import json_numbers
from app.http.base_schema import EXPLAINED, Area, Missing, Model, Program, Series, column, maybe
from hydrology.base.absent import Absent, absent, known
from hydrology.base.calendar import as_date
from hydrology.base.reasons import Reason
from hydrology.base.units import Units
from hydrology.outlook import LEVELS, Peak
from records.forecasts import adjustments
from records.forecasts.latest import Latest
from records.outlooks import outlooks
from records.outlooks.flow_outlooks import RunOutlook
from records.runs import run_arrays, run_types, runs
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


class BasinForecast(header.RunOfBasin):
    """The result of a run for a basin."""

    filled_forcing: dict[str, int] = Field(
        description="Number of missing weather values interpolated, or filled by the stated rule of their source "
        "(Daymet lacks 31 December of leap years), by variable; of all products together."
    )
    skipped_days: int = Field(
        description="Number of days without weather that the network skipped; 0 for a network that skips none. Of a "
        "version that combines others, the largest number of one of them."
    )
    area: Annotated[Area | None, Series("drainage area that depths are taken over", column="area")]
    units: header.FieldUnits
    time: header.Days
    lead_days: header.LeadDays
    in_words: str | None = Field(description="A summary of the published forecast in a few sentences.")
    published: Annotated[header.GappyColumns | None, quantile_series(PUBLISHED, LEVELS)] = Field(
        description=column(
            "In the requested unit, the flow to use, as in `/v1/basins/{basin}/outlook`: as a forecaster adjusted it "
            "or a measured flow updated it, else `calibrated`, else the members'. Null on days that had ended at "
            "issue, and on those that an adjustment moves no flow to"
        )
    )
    adjustment: str | None = Field(
        default=None, description="The published adjustment that `published` and `in_words` follow. Only there."
    )
    update: str | None = Field(
        default=None, description="The label of that adjustment, where it is an update by a measured flow. Only there."
    )
    peak: PeakOfRun | None = Field(
        description="The highest day ahead of `published`. Null where flow more likely falls from the last past day "
        "than rises."
    )
    calibrated: Annotated[header.Columns | None, quantile_series(CALIBRATED, ANSWER_LEVELS)] = Field(
        description=column(
            "In the requested unit, as issued: discharge corrected by the errors of past forecasts and the last "
            "observed flow. `p10`: lower with a chance of 10 %. The correction adds or removes water, so no balance "
            "closes"
        )
    )
    calibration: Calibration | None = Field(description="The basis of `calibrated`.")
    quantiles_of: run_types.QuantilesOf = Field(
        description="Origin of the quantiles of `discharge`, not calibrated. `members`: the spread of the "
        "ensemble's members. `members and traces`: of every member with every trace of weather."
    )
    discharge: Annotated[header.Columns | None, quantile_series(UNCALIBRATED, run_types.QUANTILES)] = Field(
        description=column(
            "In the requested unit: `median`, and quantiles of the members named by the percentage at "
            f"or below (`p10`: a tenth of the members). {run_types.QUANTILES_NOTE}"
        )
    )
    normal: NormalFlow | None = Field(
        description="Normal flow for these days, as known when the run was issued "
        "(`/v1/basins/{basin}/normals` has the method and quantiles)."
    )
    members: Annotated[
        header.Columns,
        Series(
            "discharge of each member",
            unit_of="discharge",
            column="member_{}",
            standard_name=RIVER_FLOW,
            cell_methods="time: mean",
            axis="member",
            each="discharge of member {}",
        ),
    ] = Field(
        default={},
        description=column(
            "Discharge of each member, or of each member with each trace as `MEMBER/TRACE`. Only with `members=true`"
        ),
    )
    storage: Annotated[Storage | None, Series("{}")] = Field(description="Water in the basin.")
    cells_at_t0: header.Columns = Field(
        default={}, description="Water in each cell of each member at T0, mm. Only with `members=true`."
    )
    precipitation: Annotated[
        list[float] | None,
        Series(
            "rain and snow, the mean of the traces",
            "mm/day",
            standard_name="lwe_precipitation_rate",
            cell_methods="time: mean",
        ),
    ] = Field(description=column("Rain and snow, mm/day, the mean of the traces"))
    loss: Annotated[
        list[float] | None,
        Series(
            "water that leaves other than through the river, the mean of the members",
            "mm/day",
            cell_methods="time: mean",
        ),
    ] = Field(description=column("Water lost other than through the river, mm/day, mean of the members"))
    water_balance: WaterBalance | None
    provenance: Provenance
    missing: Missing = EXPLAINED


class WithoutForecast(Model):
    """A requested basin that has no forecast."""

    basin: str
    type: str = Field(description="The type of the problem that the basin's own latest forecast would return.")
    reason: str


class BasinForecasts(Model):
    """The latest forecasts of many basins: every basin asked for is in `forecasts` or in `without`."""

    forecasts: list[BasinForecast] = Field(description="In the requested order.")
    without: list[WithoutForecast] = Field(description="Basins without a forecast, and why.")


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
            series={
                name: series
                for name, series in contents[key].series.items()
                if forecast.basin.status == "issued" or name == run_arrays.LEDGER
            },
            ledgers=contents[key].ledgers,
            conserving=conserving[forecast.run.version_id],
            outlook=of_runs[key],
        )
        for key, forecast in zip(keys, forecasts, strict=True)
    ]


def forecast_of(session: Session, latest: Latest, representation: Representation) -> BasinForecast:
    (parts,) = stored_parts(session, [latest], representation.members)
    return basin_forecast(latest, parts, representation)


def basin_forecast(latest: Latest, parts: StoredParts, representation: Representation) -> BasinForecast:
    basin, series, units = latest.basin, parts.series, representation.units
    why = why_no_account(basin, parts.conserving)
    pruned = basin.pruned if basin.status == "issued" else None
    discharge = quantiles_in_units(series["discharge_quantiles"], basin, units) if basin.status == "issued" else why
    calibrated = calibrated_columns(series.get(run_arrays.CALIBRATED), basin, units)
    calibration = calibrated if isinstance(calibrated, Absent) else calibration_of(latest, units)
    storage = Storage(**stored_water(series, basin)) if "storage" in series else why
    published = discharge if isinstance(discharge, Absent) else _published(parts.outlook, latest, units)
    peak = peak_of_run(latest, _peak(parts.outlook, discharge), units)
    where_known: dict[str, Any] = {} if latest.adjustment is None else {"adjustment": latest.adjustment}
    if isinstance(parts.outlook, RunOutlook) and parts.outlook.update is not None:
        where_known["update"] = parts.outlook.update
    if representation.members:
        where_known |= _members(series, basin, units) | ({"missing": {"members": str(pruned)}} if pruned else {})
    rain: Any = pruned or why
    if "precipitation" in series:  # with traces, their mean
        of_days = series["precipitation"]
        rain = mean_of_members(of_days, basin) if "trace" in of_days.axes else json_numbers.column(of_days.values)
    return BasinForecast.from_records(
        **header.header_of_days(latest, representation.at),
        filled_forcing=basin.summary.filled_forcing,
        skipped_days=basin.summary.skipped_days,
        area=basin.area or absent(Reason.NO_PRODUCT_AREA_AT_RUN),
        units=_units(representation),
        in_words=maybe(
            discharge,
            lambda of_members: _in_words(
                latest,
                units,
                known(published) or known(calibrated) or of_members,
                known(calibration),
                known(storage),
                peak=known(peak),
                is_calibrated=not isinstance(calibrated, Absent),
            ),
        ),
        published=published,
        peak=peak,
        calibrated=calibrated,
        calibration=calibration,
        quantiles_of=latest.run.quantiles_of,
        discharge=discharge,
        normal=normal_flow(series.get(run_arrays.NORMAL), latest, units, discharge, calibrated),
        storage=storage,
        precipitation=rain,
        loss=mean_of_members(series["loss"], basin) if "loss" in series else why,
        water_balance=water_balance(parts.ledgers, series.get(run_arrays.LEDGER), basin.spin_up_days) or why,
        provenance=_provenance(latest),
        **where_known,
    )


def _peak(outlook: RunOutlook | Absent, discharge: header.Columns | Absent) -> Peak | Absent:
    for absence in (discharge, outlook):
        if isinstance(absence, Absent):
            return absence
    assert isinstance(outlook, RunOutlook)
    return outlook.published.peak


def _published(outlook: RunOutlook | Absent, latest: Latest, units: Units) -> header.GappyColumns | Absent:
    if isinstance(outlook, Absent):
        return outlook
    days = outlook.published.days
    flows = np.full((len(LEVELS), latest.run.horizon_days), np.nan)
    flows[:, np.array(days.leads) - 1] = np.array(days.quantiles, dtype=np.float64)
    shown = in_units(flows, latest.basin, units)
    return {level_name(level): json_numbers.gappy_column(row) for level, row in zip(LEVELS, shown, strict=True)}


def _in_words(
    latest: Latest,
    units: Units,
    flows: Mapping[str, Sequence[float | None]],
    calibration: Calibration | None,
    storage: Storage | None,
    *,
    peak: PeakOfRun | None,
    is_calibrated: bool,
) -> str:
    run = latest.run
    changes, days = header.what_if(run), header.days_ahead(run)["time"]
    leads = [lead for lead, flow in enumerate(flows["median"]) if lead >= run.filled_days and flow is not None]
    named = [name for name in ("median", *words.LIKELY) if name in flows]
    to_come = {name: [float(flows[name][lead] or 0.0) for lead in leads] for name in named}
    return words.in_words(
        t0=as_date(run.t0),
        days=[days[lead] for lead in leads],
        discharge=to_come,
        calibrated=to_come if is_calibrated else None,
        calibration=calibration,
        storage=storage,
        weather=run.forcing_kind,
        units=units,
        peak=peak,
        what_if=None if changes is None else changes.in_words,
    )


def _members(series: Mapping[str, run_arrays.RunSeries], basin: run_types.RunBasin, units: Units) -> dict[str, Any]:
    if "discharge" not in series:
        return {}
    flows, cells = series["discharge"], series.get("cells_at_t0")
    columns = {"members": _by_label(flows, in_units(flows.values, basin, units))}
    return columns | ({} if cells is None else {"cells_at_t0": _by_label(cells, cells.values)})


def _units(representation: Representation) -> dict[str, str]:
    discharge = dict.fromkeys(("discharge", "calibrated", "normal"), representation.units)
    of_members = {"members": representation.units, "cells_at_t0": "mm"} if representation.members else {}
    water = {"storage": "mm", "precipitation": "mm/day", "loss": "mm/day", "water_balance": "mm"}
    return {**discharge, **water, **of_members}


def _by_label(series: run_arrays.RunSeries, values: npt.NDArray[Any]) -> header.Columns:
    labels = [str(label) for label in series.axes["member"]]
    if "trace" in series.axes:
        labels = [f"{member}/{trace}" for member in labels for trace in series.axes["trace"]]
    return {label: json_numbers.column(row) for label, row in zip(labels, values.reshape(len(labels), -1), strict=True)}


def _provenance(latest: Latest) -> Provenance:
    run, basin = latest.run, latest.basin
    parent: ParentState | Absent = basin.reason or absent(Reason.EMPTY_STORE)
    if basin.parent_day is not None and basin.parent_hash is not None:
        parent = ParentState(day=as_date(basin.parent_day), hash=basin.parent_hash)
    hashes: dict[str, Any] = {name: getattr(basin, name) or basin.why_missing for name in ("state_hash", "inputs_hash")}
    return Provenance.from_records(run, parent_state=parent, **hashes)
