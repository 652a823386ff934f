"""The common first fields of answers about a run, typed."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, datetime
from typing import NotRequired, TypedDict

import numpy as np

from app.basins.schemas import Kind, kind_of
from app.forecasts.schemas import Superseded, WhatIf
from app.forecasts.what_if import what_if
from app.http.base_schema import DataCredit
from app.weather.bridges.schemas import BridgeUsed
from app.weather.bridges.service import bridge_used
from app.weather.schemas import WeatherUsed
from hydrology.base.calendar import as_date
from hydrology.base.staleness import age_days, stale
from hydrology.weather.forcing import ForcingKind
from hydrology.weather.perturbed_forecasts import SOURCE as PERTURBED
from records.forecasts.latest import Latest
from records.runs.run_summary import LEARNT_FROM
from records.runs.runs import BasinStatus, Purpose, Run, RunBasin

FORCING_NOTES: Mapping[ForcingKind, str] = {
    "observed": "A hindcast: driven by the weather observed after T0, which was not known at T0.",
    "supplied": "Driven by a weather forecast for the days after T0.",
    "climatology": "Driven by the weather of other years for the days after T0.",
    "dry": (
        "Hypothetical dry weather: no precipitation after T0, and the mean of other years for all else. It is not a "
        "forecast."
    ),
}
PERTURBED_NOTE = "Driven by perturbed observations for the days after T0: a replay's stand-in for a weather forecast."


class Header(TypedDict):
    """The fields of `RunOfBasin`."""

    basin: str
    basin_kind: Kind
    run: str
    version: str
    purpose: Purpose
    what_if: NotRequired[WhatIf]
    status: BasinStatus
    reason: str | None
    superseded_by: Superseded | None
    t0: date
    issued_at: datetime
    available_at: datetime
    horizon_days: int
    product: str
    product_credit: NotRequired[DataCredit]
    forcing_kind: ForcingKind
    forcing_note: str
    forcing_cutoff: NotRequired[date]
    weather: NotRequired[WeatherUsed]
    traces: NotRequired[int]
    bridges: list[BridgeUsed]
    seen_in_training: bool | None
    outside_training: list[str] | None
    trained_on: str | None
    training_note: str | None
    attributes_assumed: list[str] | None
    spin_up_days: int | None
    official: NotRequired[bool]
    spin_up_note: NotRequired[str]
    t0_age_days: int
    t0_note: NotRequired[str]
    age_days: NotRequired[int]
    stale: NotRequired[bool]


class DayColumns(TypedDict):
    """The days of a run's columns."""

    time: list[date]
    lead_days: list[int]


def header(latest: Latest, at: datetime | None) -> Header:
    """Return the fields of `RunOfBasin`, with the age at the clock's time where that is given."""
    run, basin, newer, summary = latest.run, latest.basin, latest.superseded_by, latest.basin.summary
    fields = Header(
        basin=basin.basin_id,
        basin_kind=kind_of(basin.basin_id),
        run=run.id,
        version=run.version_id,
        purpose=run.purpose,
        status=basin.status,
        reason=basin.reason,
        superseded_by=None if newer is None else Superseded(run=newer.run_id, status=newer.status, reason=newer.reason),
        t0=as_date(run.t0),
        issued_at=run.issued_at,
        available_at=run.available_at,
        horizon_days=run.horizon_days,
        product=run.product,
        forcing_kind=run.forcing_kind,
        forcing_note=forcing_note(run),
        bridges=[bridge_used(bridge) for bridge in summary.bridges],
        seen_in_training=summary.seen_in_training,
        outside_training=None if summary.outside_training is None else list(summary.outside_training),
        trained_on=summary.trained_on,
        training_note=summary.training_note,
        attributes_assumed=None if summary.attributes_assumed is None else list(summary.attributes_assumed),
        spin_up_days=basin.spin_up_days,
        t0_age_days=run.t0_age_days,
    )
    if run.t0_note is not None:
        fields["t0_note"] = run.t0_note
    if run.owner is not None:
        fields["official"] = False
    if (asked := what_if(run)) is not None:
        fields["what_if"] = asked
    if summary.product_credit is not None:
        fields["product_credit"] = DataCredit(**asdict(summary.product_credit))
    if run.forcing_cutoff is not None:
        fields["forcing_cutoff"] = as_date(run.forcing_cutoff)
    if (used := weather_used(run)) is not None:
        fields["weather"] = used
    if summary.traces is not None:
        fields["traces"] = summary.traces
    if basin.spin_up_note is not None:
        fields["spin_up_note"] = basin.spin_up_note
    if at is not None:
        fields["age_days"] = age_days(run.t0, at)
        fields["stale"] = stale(fields["age_days"])
    return fields


def forcing_note(run: Run) -> str:
    """Describe the weather after T0."""
    perturbed = run.weather is not None and run.weather.source == PERTURBED
    note = PERTURBED_NOTE if perturbed else FORCING_NOTES[run.forcing_kind]
    changed = run.what_if is not None and bool(run.what_if.changes)
    return f"{note} Changed as described in what_if." if changed else note


def weather_used(run: Run) -> WeatherUsed | None:
    """Return the weather forecast used by a run, if any."""
    return None if run.weather is None else WeatherUsed(**asdict(run.weather))


def missing_in_header(basin: RunBasin) -> dict[str, str]:
    """Return why fields of `RunOfBasin` are null, by their names."""
    missing = {name: basin.why_missing for name in LEARNT_FROM if getattr(basin.summary, name) is None}
    return missing if basin.spin_up_days is not None else missing | {"spin_up_days": basin.why_missing}


def days_ahead(run: Run) -> DayColumns:
    """Return the valid days of a run, and their leads."""
    leads = list(range(1, run.horizon_days + 1))
    return DayColumns(time=[as_date(run.t0 + np.timedelta64(lead, "D")) for lead in leads], lead_days=leads)
