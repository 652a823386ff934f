"""Builds the forecast of a basin from a stored run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt
from sqlalchemy.orm import Session

from app.exports.answers import body_of
from app.forecasts import words
from app.forecasts.balance import water_balance
from app.forecasts.discharge import (
    Representation,
    calibrated_columns,
    calibration_of,
    in_units,
    level_name,
    quantile_columns,
)
from app.forecasts.header import days_ahead, header, missing_in_header
from app.forecasts.normal import missing_in_normal, normal_flow
from app.forecasts.schemas import BasinForecast, Columns, GappyColumns, ParentState, Provenance, Storage
from app.forecasts.snow import missing_in_snow, snow_read
from app.forecasts.what_if import what_if
from app.http.base_schema import Area
from app.http.conditional import entity_tag
from app.http.json_numbers import column, gappy_column, rounded
from app.http.response_cache import ResponseCache
from hydrology.base import units as convert
from hydrology.base.absent import Absent, absent, texts
from hydrology.base.calendar import Day, as_date
from hydrology.base.reasons import Reason
from hydrology.base.staleness import age_days
from hydrology.base.units import Units
from hydrology.outlook.days_ahead import LEVELS
from records.adjustments import adjustments
from records.forecasts.latest import Latest
from records.outlooks import outlooks
from records.outlooks.run_outlook import RunOutlook
from records.runs import runs
from records.runs.run_summary import NOT_STORED
from records.versions import versions

Array = npt.NDArray[np.float64]

WITHOUT_MEMBERS = (
    *("discharge_quantiles", runs.CALIBRATED, runs.NORMAL, "precipitation", "loss", "storage", "snow"),
    runs.SNOW_SPREAD,
    runs.LEDGER,
)


@dataclass(frozen=True, slots=True)
class StoredParts:
    """Stored arrays of a run for a basin, besides its row, and its outlook."""

    series: Mapping[str, runs.RunSeries]
    ledgers: Sequence[runs.Ledger]
    conserving: bool
    outlook: RunOutlook | Absent


class MemberColumns(TypedDict, total=False):
    """Fields of a forecast included on request."""

    members: Columns
    cells_at_t0: Columns


def tag_of(latest: Latest, representation: Representation) -> str:
    """Return the entity tag, from the run's id, the representation, its adjustment, whether it was
    pruned, and whether the basin is official. A run never changes otherwise."""
    return _tag(representation, *identity(latest, representation.at))


def tag_of_key(run: str, t0: Day, basin: str, representation: Representation) -> str:
    """Return the entity tag of a latest forecast that is not adjusted, without reading it."""
    at = representation.at
    return _tag(representation, run, basin, None, None if at is None else age_days(t0, at))


def _tag(representation: Representation, *parts: Any) -> str:
    return entity_tag(representation.units, representation.members, *parts)


def identity(latest: Latest, at: datetime | None) -> tuple[Any, ...]:
    """Return the JSON values that determine an answer about a run, including its age if stated."""
    newer = latest.superseded_by and latest.superseded_by.run_id
    awaited = () if latest.awaited is None else (latest.awaited,)
    pruned = () if latest.basin.pruned is None else (str(latest.basin.pruned),)
    unofficial = () if latest.is_official else ("unofficial",)
    adjusted = () if latest.adjustment is None else (latest.adjustment,)
    age = None if at is None else age_days(latest.run.t0, at)
    return latest.run.id, latest.basin.basin_id, newer, age, *pruned, *awaited, *unofficial, *adjusted


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


def rendered_forecast(
    session: Session, rendered: ResponseCache, latest: Latest, representation: Representation
) -> bytes:
    """Return the forecast of a basin in JSON, from the cache where possible.

    Raises:
        NoArea: the run names no area, and flows are requested.
    """
    tag = tag_of(latest, representation)
    if (stored := rendered.get(tag)) is not None:
        return stored
    (parts,) = stored_parts(session, [latest], representation.members)
    body = body_of(basin_forecast(latest, parts, representation))
    rendered.put(tag, body)
    return body


def _answered_content(forecast: Latest, content: runs.Content) -> Mapping[str, runs.RunSeries]:
    """Return the arrays of an answer; only ledgers if the basin was not issued."""
    if forecast.basin.status == "issued":
        return content.series
    return {name: series for name, series in content.series.items() if name == runs.LEDGER}


def basin_forecast(latest: Latest, parts: StoredParts, representation: Representation) -> BasinForecast:
    """Return the forecast of a basin.

    Raises:
        NoArea: the run names no area, and flows are requested.
    """
    run, basin, series, issued = latest.run, latest.basin, parts.series, latest.basin.status == "issued"
    discharge = quantile_columns(series["discharge_quantiles"], basin, representation) if issued else None
    calibrated = calibrated_columns(series.get(runs.CALIBRATED), basin, representation)
    calibration = None if calibrated is None else calibration_of(run, basin, representation)
    normal = normal_flow(series.get(runs.NORMAL), basin, representation, discharge, calibrated, past=run.filled_days)
    storage = storage_of(series, basin)
    precipitation = _of_traces(series["precipitation"], basin) if "precipitation" in series else None
    loss = _mean(series["loss"], basin) if "loss" in series else None
    balance = water_balance(parts.ledgers, series.get(runs.LEDGER), basin.spin_up_days)
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


def _missing_in_account(
    basin: runs.RunBasin,
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
    (height,) = column(in_units(np.array([peak.height]), latest.basin, units))
    return height, as_date(latest.run.t0) + timedelta(days=peak.lead)


def _published(outlook: RunOutlook | Absent, latest: Latest, units: Units) -> GappyColumns | None:
    """Return the quantiles of the published flow, on the days of the run."""
    if isinstance(outlook, Absent):
        return None
    days = outlook.published.days
    flows = np.full((len(LEVELS), latest.run.horizon_days), np.nan)
    flows[:, np.array(days.leads) - 1] = np.array(days.quantiles, dtype=np.float64)
    shown = in_units(flows, latest.basin, units)
    return {level_name(level): gappy_column(row) for level, row in zip(LEVELS, shown, strict=True)}


def _days_in_words(run: runs.Run, flows: Mapping[str, Sequence[float | None]]) -> tuple[list[date], Columns]:
    """Return the days to come with flow, and the flow."""
    known = [lead for lead, flow in enumerate(flows["median"]) if lead >= run.filled_days and flow is not None]
    days = days_ahead(run)["time"]
    of_days = {name: [float(values[lead] or 0.0) for lead in known] for name, values in flows.items()}
    return [days[lead] for lead in known], of_days


def _pruned(why: Absent, precipitation: list[float] | None, representation: Representation) -> dict[str, Absent]:
    """Return the fields that are null because a run was pruned, with the reason."""
    names = [*([] if precipitation else ["precipitation"]), *(["members"] if representation.members else [])]
    return dict.fromkeys(names, why)


def _member_columns(series: Mapping[str, runs.RunSeries], basin: runs.RunBasin, units: Units) -> MemberColumns:
    flows = series["discharge"]
    columns = MemberColumns(members=_by_label(flows, in_units(flows.values, basin, units)))
    if "cells_at_t0" in series:
        columns["cells_at_t0"] = _by_label(series["cells_at_t0"], series["cells_at_t0"].values)
    return columns


def _missing_provenance(basin: runs.RunBasin) -> dict[str, Absent]:
    missing = {}
    if basin.area_m2 is None:
        missing["area"] = absent(Reason.NO_PRODUCT_AREA_AT_RUN)
    if basin.parent_day is None:
        missing["provenance.parent_state"] = basin.reason or absent(Reason.EMPTY_STORE)
    for name in ("state_hash", "inputs_hash"):
        if getattr(basin, name) is None:
            missing[f"provenance.{name}"] = basin.why_missing
    return missing


def why_no_account(basin: runs.RunBasin, conserving: bool) -> Absent:
    """Return why a run has no water balance of a basin."""
    return basin.why_missing if conserving else basin.reason or absent(Reason.NOT_CONSERVING)


def why_no_snow(basin: runs.RunBasin) -> Absent:
    """Return why a run that has the storage has no snow."""
    return basin.why(basin.summary.snow)


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


def storage_of(series: Mapping[str, runs.RunSeries], basin: runs.RunBasin) -> Storage | None:
    """Return the mean of members (and traces) of the water in the basin; None where the run stores none."""
    if "storage" not in series:
        return None
    snow = _mean(series["snow"], basin) if "snow" in series else None
    at_t0 = basin.summary.storage_mm
    return Storage(
        at_t0=None if at_t0 is None else rounded(at_t0),
        total=_mean(series["storage"], basin),
        snow=snow,
        snow_read=snow_read(series, basin),
    )


def _of_traces(series: runs.RunSeries, basin: runs.RunBasin) -> list[float]:
    """Return values of each lead; with traces, their mean."""
    return _mean(series, basin) if "trace" in series.axes else column(series.values)


def _mean(series: runs.RunSeries, basin: runs.RunBasin) -> list[float]:
    return column(runs.over_members(series, basin.summary.parts))


def _by_label(series: runs.RunSeries, values: npt.NDArray[Any]) -> Columns:
    """Return the row of each member, or of each member with each trace."""
    labels = [str(label) for label in series.axes["member"]]
    if "trace" in series.axes:
        labels = [f"{member}/{trace}" for member in labels for trace in series.axes["trace"]]
    return {label: column(row) for label, row in zip(labels, values.reshape(len(labels), -1), strict=True)}


def _area(basin: runs.RunBasin) -> Area | None:
    if basin.area_m2 is None or basin.area_name is None:
        return None
    return Area.of(convert.Area(basin.area_name, basin.area_m2))


def _provenance(run: runs.Run, basin: runs.RunBasin) -> Provenance:
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
