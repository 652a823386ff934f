"""Builds the answers about adjustments and held alerts."""

from typing import Any, Literal

from sqlalchemy.orm import Session

from app.adjustments.schemas import AdjustedForecast, AdjustedLevel, Adjustment, HeldAlerts
from app.alerts.changes import proposed_change
from app.forecasts.discharge import ANSWER_LEVELS, in_units, level_name, usual_units
from app.forecasts.header import days_ahead
from app.http.base_schema import why_null
from app.http.json_numbers import column, gappy_column, rounded
from hydrology.base.absent import Absent
from hydrology.base.calendar import Day, as_date
from hydrology.base.units import Units
from hydrology.extremes.alerting import WINDOW_DAYS
from records.alerts import held_alerts
from records.database.statements import as_values
from records.levels import level_doubts
from records.outlooks.level_chances import read_chances
from records.runs import run_arrays, run_types, runs
from records.runs.adjustment import Adjustment as StoredAdjustment

_DRAFT = "It is a draft."
_WHY = {"publisher": _DRAFT, "published_at": _DRAFT, "note": "There is none."}
_WAITS = "Nobody has decided yet."
_WHY_HELD = {
    "due_at": "A level is in doubt: it waits until somebody decides.",
    **dict.fromkeys(("ruling", "ruled_by", "ruled_at"), _WAITS),
    "note": "There is none.",
}


def adjustment(session: Session, stored: StoredAdjustment) -> Adjustment:
    """Return an adjustment."""
    fields = _fields(session, stored)
    return Adjustment(**fields, missing=why_null(fields, _WHY))


def adjusted_forecast(session: Session, stored: StoredAdjustment, units: Units | None = None) -> AdjustedForecast:
    """Return a forecast as issued and as adjusted.

    Args:
        units: of flow; by default m3/s, or mm/day where the run names no area.

    Raises:
        NoArea: the run names no area, and another unit than mm/day is asked for.
    """
    run, basin = runs.get(session, stored.run_id), runs.basin_of(session, stored.run_id, stored.basin_id)
    units = units or usual_units(basin)
    series = runs.series_of(session, run.id, basin.basin_id, (run_arrays.CALIBRATED, "discharge_quantiles"))
    flow_of: Literal["calibrated", "discharge"] = "calibrated" if run_arrays.CALIBRATED in series else "discharge"
    flow = series[run_arrays.CALIBRATED if flow_of == "calibrated" else "discharge_quantiles"]
    shown = [at for at, level in enumerate(flow.axes["level"]) if level in ANSWER_LEVELS]
    names = [level_name(flow.axes["level"][at]) for at in shown]
    issued = in_units(flow.values[shown], basin, units)
    adjusted = stored.of_flow.adjusted(issued)
    fields, levels = _fields(session, stored), _levels(session, stored, run, basin)
    missing = why_null(fields, _WHY) | ({"levels": str(levels)} if isinstance(levels, Absent) else {})
    return AdjustedForecast(
        **fields,
        units={"issued": units, "adjusted": units},
        **days_ahead(run),
        flow_of=flow_of,
        issued={name: column(row) for name, row in zip(names, issued, strict=True)},
        adjusted={name: gappy_column(row) for name, row in zip(names, adjusted, strict=True)},
        window_days=min(run.horizon_days - run.filled_days, WINDOW_DAYS),
        levels=None if isinstance(levels, Absent) else levels,
        missing=missing,
    )


def held(session: Session, stored: held_alerts.HeldAlerts, on: Day) -> HeldAlerts:
    """Return what waits for approval in a basin.

    Args:
        on: the service's day, whose rating converts levels.
    """
    fields: dict[str, Any] = as_values(stored, "basin_id", "run_id", "proposed")
    return HeldAlerts(
        basin=stored.basin_id,
        run=stored.run_id,
        proposed=[proposed_change(change) for change in stored.proposed],
        in_doubt=level_doubts.in_doubt(session, stored.basin_id, on),
        **fields,
        missing=why_null(fields, _WHY_HELD),
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
    """Return the chances of levels as issued and as adjusted: those that were published, or of a draft, by name."""
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
