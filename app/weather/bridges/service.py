"""Builds the answers about bridges."""

from dataclasses import asdict
from typing import Any

from sqlalchemy.orm import Session

from app.http.base_schema import why_null
from app.weather.bridges.schemas import Bridge, BridgedBasin, BridgeDetail, BridgeUsed
from hydrology.base.calendar import as_date
from records.runs.bridge_used import RunBridge
from records.weather import bridges

_WHY = {
    "model": "It is for observed weather.",
    "first_day": "It was fitted on all days that both products have.",
    "last_day": "It was fitted on all days that both products have.",
}
_WHY_OF_BASIN = {
    "pooled_reason": "It was fitted here.",
    "held_out": "It has no days of its own to hold out.",
    "applied_at": "It has not been applied here.",
}


def summaries(session: Session) -> list[Bridge]:
    """Return the newest fit of each bridge."""
    return [Bridge(**_fields(bridge)) for bridge in bridges.list_bridges(session)]


def detail(session: Session, bridge: str) -> BridgeDetail:
    """Return a bridge with its corrections for each basin.

    Raises:
        UnknownBridge: there is none of that name or id.
    """
    stored = bridges.get(session, bridge)
    basins = [_basin(part, stored) for part in bridges.parts_of(session, stored.id)]
    return BridgeDetail(**_fields(stored), basins=basins, refused=dict(stored.refused))


def bridge_used(bridge: RunBridge) -> BridgeUsed:
    """Return the description of the bridge behind a forecast's weather."""
    fields = asdict(bridge)
    fields["hash"] = fields.pop("sha256")
    del fields["precipitation_bias"], fields["precipitation_correlation"]
    return BridgeUsed(**fields | {"pooled_from": list(bridge.pooled_from)}, note=f"{bridge.note}.")


def _fields(bridge: bridges.Bridge) -> dict[str, Any]:
    names = ("id", "name", "from_product", "to_product", "model", "created_at")
    fields = {name: getattr(bridge, name) for name in names} | {
        "first_day": None if bridge.first is None else as_date(bridge.first),
        "last_day": None if bridge.last is None else as_date(bridge.last),
    }
    return fields | {"missing": why_null(fields, _WHY)}


def _basin(part: bridges.BridgePart, bridge: bridges.Bridge) -> BridgedBasin:
    corrections = part.corrections
    fields: dict[str, Any] = {
        "factors": {name: list(values) for name, values in corrections.factors.items()},
        "steps": {name: list(values) for name, values in corrections.steps.items()},
        "basin": part.basin_id,
        "pooled_from": list(part.pooled_from),
        "pooled_reason": part.pooled_reason,
        "day_offset": corrections.day_offset,
        "limited": list(corrections.limited),
        "held_out": None if part.skill is None else asdict(part.skill),
        "applied_at": part.applied_at,
        "hash": part.sha256,
    }
    why = _WHY_OF_BASIN
    if bridge.model is not None:
        why = why | {"applied_at": "Weather forecasts are corrected when used: no corrected weather is stored."}
    return BridgedBasin(**fields, missing=why_null(fields, why))
