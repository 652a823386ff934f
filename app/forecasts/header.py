"""The common first fields of answers about a run."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import date, datetime
from typing import Any, TypedDict

import numpy as np

from app.basins.schemas import named_kind
from app.exports.series import table_of
from app.exports.table import Table
from app.forecasts.schemas import IncrementOfRun, RunOfBasin, StormOfRun, SubsetOfRun, Superseded, WhatIf
from app.http.base_schema import DataCredit
from app.weather.bridges import bridge_used
from app.weather.weather import WeatherUsed
from hydrology.base.absent import text
from hydrology.base.calendar import age_days, as_date, stale
from hydrology.weather.forcing_kinds import KINDS
from hydrology.weather.forecast_errors import SOURCE as PERTURBED
from jobspec.changes import Changes
from records.basins.basins import Site
from records.forecasts.latest import Latest
from records.runs.filled_note import weather_note
from records.runs.run_summary import LEARNT_FROM
from records.runs.run_types import Run
from records.runs.run_weather import RunPart, RunSubset

PERTURBED_NOTE = "Driven by perturbed observations for the days after T0: a replay's stand-in for a weather forecast."


class DayColumns(TypedDict):
    """The days of a run's columns."""

    time: list[date]
    lead_days: list[int]


_OF_RUN = ("purpose", "issued_at", "available_at", "horizon_days", "product", "forcing_kind", "t0_age_days")


def header(latest: Latest, at: datetime | None) -> dict[str, Any]:
    """Return the fields of `RunOfBasin`, or an `Absent`; `at` is the clock's time, None for a named run."""
    run, basin, summary = latest.run, latest.basin, latest.basin.summary
    learnt = {name: getattr(summary, name) for name in LEARNT_FROM} | {"spin_up_days": basin.spin_up_days}
    where_known = {
        "t0_note": run.t0_note,
        "awaited_version": latest.awaited,
        "version_note": latest.version_note,
        "official": None if run.owner is None and latest.is_official else False,
        "what_if": what_if(run),
        "product_credit": summary.product_credit and DataCredit(**asdict(summary.product_credit)),
        "forcing_cutoff": None if run.forcing_cutoff is None else as_date(run.forcing_cutoff),
        "weather": weather_used(run),
        "traces": summary.traces,
        "spin_up_note": basin.spin_up_note,
        "age_days": None if at is None else age_days(run.t0, at),
        "stale": None if at is None else stale(age_days(run.weather_until, at)),
        "filled_days": run.filled_days or None,
        "filled_weather": [asdict(one) for one in summary.filled_weather] or None,
        "version_parts": [_part(part) for part in summary.parts] or None,
        "subset": None if summary.subset is None else _subset(summary.subset),
        "weather_note": weather_note(run, summary),
    }
    return {
        "basin": basin.basin_id,
        "basin_kind": named_kind(basin.basin_id, official=latest.is_official),
        "run": run.id,
        "version": run.version_id,
        "status": basin.status,
        "reason": text(basin.reason),
        "superseded_by": _superseded(latest),
        "t0": as_date(run.t0),
        "forcing_note": forcing_note(run),
        "bridges": [bridge_used(bridge) for bridge in summary.bridges],
        **{name: getattr(run, name) for name in _OF_RUN},
        **{name: basin.why_missing if value is None else value for name, value in learnt.items()},
        **{name: value for name, value in where_known.items() if value is not None},
    }


def header_of_days(latest: Latest, at: datetime | None) -> dict[str, Any]:
    """Return the fields of `DaysOfRun` but for its units."""
    return header(latest, at) | {**days_ahead(latest.run)}


def days_ahead(run: Run) -> DayColumns:
    """Return the valid days of a run, and their leads."""
    leads = list(range(1, run.horizon_days + 1))
    return DayColumns(time=[as_date(run.t0 + np.timedelta64(lead, "D")) for lead in leads], lead_days=leads)


def run_table(name: str, title: str) -> Callable[[RunOfBasin, Mapping[str, Site]], Table]:
    """Return what builds the table of a run's answer; `title` has `{}` for the basin."""
    return lambda answer, sites: table_of(
        answer, f"{answer.basin}_{name}_{answer.t0}", title.format(answer.basin), sites
    )


def _part(part: RunPart) -> dict[str, Any]:
    return asdict(part) | {"filled_weather": [asdict(one) for one in part.filled_weather] or None}


def _subset(subset: RunSubset) -> SubsetOfRun:
    fields = asdict(subset) | {"missing": {name: str(why) for name, why in subset.missing.items()}}
    del fields["without_nse"]  # the note gives it
    return SubsetOfRun(**fields)


def _superseded(latest: Latest) -> Superseded | None:
    newer = latest.superseded_by
    return None if newer is None else Superseded(run=newer.run_id, status=newer.status, reason=str(newer.reason))


def forcing_note(run: Run) -> str:
    """Describe the weather after T0."""
    perturbed = run.weather is not None and run.weather.source == PERTURBED
    note = PERTURBED_NOTE if perturbed else KINDS[run.forcing_kind].note
    changed = run.what_if is not None and bool(run.what_if.changes)
    return f"{note} Changed as described in what_if." if changed else note


def weather_used(run: Run) -> WeatherUsed | None:
    """Return the weather forecast used by a run, if any."""
    if run.weather is None:
        return None
    used = asdict(run.weather)
    del used["recalibration"]  # it is the calibration's, in each basin's answer
    return WeatherUsed(**used)


def what_if(run: Run) -> WhatIf | None:
    """Return the changes of a run; None if it is not a what-if run."""
    shown = run.what_if
    if shown is None:
        return None
    changes = Changes.model_validate(shown.changes)
    return WhatIf(
        in_words=changes.in_words,
        degrees=changes.degrees,
        precipitation_percent=changes.precipitation_percent,
        storm=None if changes.storm is None else StormOfRun(**changes.storm.model_dump()),
        increment=None if changes.increment is None else IncrementOfRun(**changes.increment.model_dump()),
        assimilate=changes.assimilate,
        note=shown.note,
        base=shown.base,
    )
