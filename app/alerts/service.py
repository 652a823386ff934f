"""Builds the answers about alerts."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from app.alerts.schemas import Alert, AlertChange, AlertStep, BasinAlerts, ProposedChange, RiverAlert
from app.basins.ratings import rating_of, stage_of
from app.basins.schemas import kind_of
from app.http.base_schema import why_null
from hydrology.base.absent import text
from hydrology.base.calendar import Day, as_date
from hydrology.extremes.alerting import ENDS_AFTER, ladder
from hydrology.ratings.rating import Rating
from records.alerts import alert_changes, alerts
from records.database.statements import as_values
from records.levels import basin_levels
from records.levels.basin_levels import Threshold

_WHY = {
    "kind": "The level is user-defined.",
    "return_period_years": "A user-defined level has none.",
    "category": "The level is not an official category.",
    "impact": "Nothing is stated.",
    "trend": "There was no run before to compare with.",
    "severity": "There is no alert.",
    "since": "There is no alert.",
}
_OF_THE_BASIN = "It concerns all levels of the basin."
_NOT_SENT = "It is of levels below the alert of the river alone, which goes on unchanged."
_WHY_OF_CHANGE = {
    **dict.fromkeys(("level", "direction", "discharge_m3s", "chance"), _OF_THE_BASIN),
    "stage_ft": "No rating of the basin covers its discharge.",
    "category": "The level is not an official category.",
    "impact": "Nothing is stated.",
    "severity": "There is no alert.",
    "severity_before": "There was no alert.",
    "trend": "There was no run before to compare with.",
    "chance_before": "There was no run before that decided the level.",
    "window_days": "A promotion covers no days.",
    "run": "The change comes from a promotion, not from a run.",
    "t0": "The change comes from a promotion, not from a run.",
    "decided_by": "The service decided it alone.",
    "adjustment": "The forecast was not adjusted.",
    "levels": "It does not head the message of a river, or is from before they were stored.",
}
NOT_DECIDED = "No forecast has decided its alerts yet."


def _fields(alert: alerts.Alert, rating: Rating | None, levels: Mapping[str, Threshold]) -> dict[str, Any]:
    """Return the fields of the alert of a level."""
    fields = as_values(alert, "official_stage")  # which is among the basin's levels
    fields["basin"], fields["run"] = fields.pop("basin_id"), fields.pop("run_id")
    switches = fields.pop("switches")
    fields["steps"] = [
        AlertStep(
            severity=step.severity,
            begins_at=step.begins_at,
            ends_below=step.ends_below,
            begins_after_runs=step.begins_after,
            ends_after_runs=ENDS_AFTER,
            on=on,
            runs=runs,
        )
        for step, (on, runs) in zip(ladder(alert.return_period_years), switches, strict=True)
    ]
    level = levels.get(alert.level)
    fields["category"], fields["impact"] = (None, None) if level is None else (level.category, level.impact)
    return fields | {"stage": stage_of(rating, alert.discharge), "missing": why_null(fields, _WHY)}


def answers_of(session: Session, found: Sequence[alerts.RiverAlert], on: Day) -> list[RiverAlert]:
    """Return the alerts of many rivers, in their order.

    Args:
        on: the service's day, whose ratings give stages.
    """
    names = {alert.basin_id for alert in found}
    of = {basin: (rating_of(session, basin, on), _levels(session, basin)) for basin in names}
    return [RiverAlert(**_fields(alert, *of[alert.basin_id])) for alert in found]


def _levels(session: Session, basin: str) -> dict[str, Threshold]:
    return {level.name: level for level in basin_levels.of_basin(session, basin)}


def of_basin(session: Session, basin: str, on: Day) -> BasinAlerts:
    """Return the alerts of a stored basin, level by level.

    Args:
        on: the service's day, whose rating gives stages.
    """
    names = ("run", "version", "t0", "issued_at", "window_days", "decided_at")
    standing, kind = alerts.standing(session, basin), kind_of(session, basin)
    if standing is None:
        missing = dict.fromkeys((*names, "reason"), NOT_DECIDED)
        return BasinAlerts(
            basin=basin, basin_kind=kind, **dict.fromkeys(names), reason=None, levels=[], missing=missing
        )
    rating, levels = rating_of(session, basin, on), _levels(session, basin)
    return BasinAlerts(
        basin=basin,
        basin_kind=kind,
        run=standing.run_id,
        version=standing.version_id,
        t0=as_date(standing.t0),
        issued_at=standing.issued_at,
        window_days=standing.window_days,
        decided_at=standing.decided_at,
        reason=text(standing.reason),
        levels=[Alert(**_fields(alert, rating, levels)) for alert in alerts.of_basin(session, basin)],
        missing={} if standing.reason else {"reason": "The run has decided."},
    )


def change(stored: alert_changes.Change) -> AlertChange:
    """Return a change."""
    fields = alert_changes.as_json(stored)
    return AlertChange(**fields, missing=why_null(fields, _WHY_OF_CHANGE | {"message": _NOT_SENT}))


def proposed_change(fields: Mapping[str, Any]) -> ProposedChange:
    """Return a change that a run proposes, from its fields."""
    fields = {"levels": None, **fields}  # it may wait since before they were stored
    return ProposedChange(**fields, missing=why_null(fields, _WHY_OF_CHANGE))
