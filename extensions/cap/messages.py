"""Changes of alerts as messages of the Common Alerting Protocol, 1.2: one for what a decision changed at a river.

Each has one `info`, because consumers take several as languages or places: its severity is that of the river's alert
after the change, and the levels with an alert are parameters. An update so replaces all that was issued before.

Source: OASIS, Common Alerting Protocol Version 1.2, 1 July 2010 (CAP-v1.2-os), sections 3.2 and 3.3.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any, Literal
from xml.etree.ElementTree import Element

from extensions.cap import xml
from hydrology.alerts import Severity
from hydrology.base.calendar import as_date
from hydrology.extremes.level_checks import LIKELY, POSSIBLE
from records.alerts import alert_changes
from records.alerts.alert_changes import Change, headline, other_levels
from records.basins.ownership import Basin, shown_name

NAMESPACE = "urn:oasis:names:tc:emergency:cap:1.2"
NO_SENDER = "freshet@not-official.invalid"
"""The sender where no official one is set."""
CIRCLE_KM = 5
"""Radius of the circle around a gauge without an outline: it marks the gauge, not what is flooded."""
_MAX_HEADLINE = 160
_SEVERITIES: Mapping[Severity, str] = {"advisory": "Minor", "watch": "Moderate", "warning": "Severe"}
_RESPONSES: Mapping[Severity, str] = {"advisory": "Monitor", "watch": "Prepare", "warning": "Prepare"}
_VALID_WITHOUT_WINDOW = timedelta(days=1)
_NOTE = "Not an official warning: no official sender was set, or it is of a replay."
_UNOFFICIAL = "Not an official warning: an operator registered the basin. All recipients disregard it."
MessageType = Literal["Alert", "Update", "Cancel"]


def write(change: Change, earlier: Sequence[Change], basin: Basin, base: str) -> bytes:
    """Write the message that a change heads.

    Args:
        base: the service's own address; empty where it is not set.
        earlier: the heads of the earlier messages of the same alert, oldest first, which it updates or cancels.
    """
    root = xml.new("alert", NAMESPACE)
    xml.add(root, "identifier", _identifier(change))
    xml.add(root, "sender", change.sender or NO_SENDER)
    xml.add(root, "sent", _instant(change.at))
    xml.add(root, "status", _status(change))
    xml.add(root, "msgType", message_type(change, earlier))
    xml.add(root, "scope", "Public")
    if not change.is_official:
        xml.add(root, "note", _NOTE if change.owner is None else _UNOFFICIAL)
    if earlier:
        xml.add(root, "references", " ".join(_reference(one) for one in earlier))
    name = shown_name(basin.id, basin.name)
    info = xml.add(root, "info")
    _add_event(info, change)
    xml.add(info, "expires", _instant(expires(change)))
    xml.add(info, "senderName", change.sender or "Freshet, not official")
    xml.add(info, "headline", headline(change, name)[:_MAX_HEADLINE])
    advice = alert_changes.advice_of(change)
    impacts = [f"{one.heading}: {one.impact}" for one in advice if one.impact] or [change.impact or ""]
    xml.add(info, "description", " ".join(filter(None, (change.why, *impacts, other_levels(change)))))
    if instructions := [f"{one.heading}: {one.instruction}" for one in advice if one.instruction]:
        xml.add(info, "instruction", " ".join(instructions))
    if base:
        xml.add(info, "web", f"{base}/basins/{change.basin_id}")
    _add_parameters(info, change)
    _add_area(info, basin, name)
    return xml.written(root)


def message_type(change: Change, earlier: Sequence[Change]) -> MessageType:
    """Return whether a message starts an alert, updates it or cancels it."""
    if not earlier:
        return "Alert"
    return "Cancel" if _severity(change) is None else "Update"


def expires(change: Change) -> datetime:
    """Return the end of the days that the chance covers; a day later where the change covers none."""
    if change.t0 is None or change.window_days is None:
        return change.at + _VALID_WITHOUT_WINDOW
    last = as_date(change.t0) + timedelta(days=change.window_days + 1)
    return max(datetime.combine(last, time(), UTC), change.at + _VALID_WITHOUT_WINDOW)


def _severity(change: Change) -> Severity | None:
    """Return the severity of the river's alert after a change; of the level's own where they were sent by level."""
    if change.levels is None:
        return change.severity
    severity: Severity | None = change.levels[0]["severity"] if change.levels else None
    return severity


def _status(change: Change) -> str:
    """Return the status. What concerns a whole basin is a notice about the service, and starts no alert.

    `Test` is what all recipients disregard [section 3.2.1].
    """
    if change.owner is not None:
        return "Test"
    if not change.is_official:
        return "Exercise"
    return "System" if change.level is None else "Actual"


def _add_event(info: Element, change: Change) -> None:
    xml.add(info, "language", "en")
    xml.add(info, "category", "Met")
    xml.add(info, "event", _event(change))
    severity = _severity(change)
    over = change.level is not None and severity is None
    if over:
        xml.add(info, "responseType", "AllClear")
    elif change.level is not None and severity is not None:
        xml.add(info, "responseType", _RESPONSES[severity])
    xml.add(info, "urgency", "Unknown" if change.level is None else "Past" if over else "Future")
    severity = change.severity_before if over else severity
    xml.add(info, "severity", "Unknown" if change.level is None or severity is None else _SEVERITIES[severity])
    xml.add(info, "certainty", _certainty(change))


def _event(change: Change) -> str:
    if change.level is None:
        return "Notice about alerts"
    return "Flood" if change.direction == "rising" else "Low flow"


def _certainty(change: Change) -> str:
    chance = change.levels[0]["chance"] if change.levels else change.chance
    if change.level is None or chance is None:
        return "Unknown"
    if chance >= LIKELY:  # in CAP from about 50 % on
        return "Likely"
    return "Possible" if chance >= POSSIBLE else "Unlikely"


def _add_parameters(info: Element, change: Change) -> None:
    values: dict[str, Any] = {
        "kind": change.kind,
        "level": change.level,
        "direction": change.direction,
        "discharge_m3s": change.discharge,
        "stage_ft": change.stage_ft,
        "flood_category": change.category,
        "freshet_severity": change.severity,
        "freshet_severity_before": change.severity_before,
        "chance": change.chance,
        "chance_before": change.chance_before,
        "trend": change.trend,
        "window_days": change.window_days,
        "t0": None if change.t0 is None else str(change.t0),
        "run": change.run_id,
        "version": change.version_id,
    }
    standing = [
        ("standing_level", f"{one['level']} {one['severity']} {one['chance']:.3g}") for one in change.levels or ()
    ]
    for name, value in [*values.items(), *standing]:
        if value is not None:
            parameter = xml.add(info, "parameter")
            xml.add(parameter, "valueName", name)
            xml.add(parameter, "value", f"{value:.6g}" if isinstance(value, float) else str(value))


def _add_area(info: Element, basin: Basin, name: str) -> None:
    area = xml.add(info, "area")
    xml.add(area, "areaDesc", name)
    for ring in basin.outline or ():
        xml.add(area, "polygon", " ".join(f"{latitude:.4f},{longitude:.4f}" for latitude, longitude in ring))
    if not basin.outline and basin.latitude is not None and basin.longitude is not None:
        xml.add(area, "circle", f"{basin.latitude:.4f},{basin.longitude:.4f} {CIRCLE_KM}")
    for system, code in (("basin", basin.id), ("HUC", basin.huc)):
        if code is not None:
            geocode = xml.add(area, "geocode")
            xml.add(geocode, "valueName", system)
            xml.add(geocode, "value", code)


def _identifier(change: Change) -> str:
    """Return the identifier: letters, digits and hyphens alone."""
    return f"freshet-{change.id}"


def _reference(change: Change) -> str:
    return f"{change.sender or NO_SENDER},{_identifier(change)},{_instant(change.at)}"


def _instant(at: datetime) -> str:
    """Return an instant in UTC as the standard writes it: to the second, and never with a Z."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}-00:00"
