"""Changes of alerts in words, for people: headlines of messages and feeds."""

from collections.abc import Mapping
from datetime import UTC

from hydrology.extremes.level_checks import level_title, percent
from records.alerts.alert_changes import Change, ChangeKind

_OF_BASIN: Mapping[ChangeKind, str] = {
    "undecided": "Alerts cannot be decided",
    "decided": "Alerts are decided again",
    "promotion": "Another model version",
}


def headline(change: Change, name: str) -> str:
    """Return a change in a line: "Watch (was advisory): 5-year flood, Boise River near Twin Springs, chance 43 %"."""
    label = ("Exercise: " if change.replayed else "") + ("Unofficial: " if change.owner is not None else "")
    if change.level is None:
        return f"{label}{_OF_BASIN[change.kind]}: {name}"
    chance = "" if change.chance is None else f", chance {percent(change.chance)}"
    leading = change.levels[0] if change.levels else {"level": change.level}
    changed = leading["level"] == change.level
    now = "" if changed else f"; now {leading['severity']}: {level_title(leading['level'])}"
    return f"{label}{turn(change)}, {name}{chance}{now}"


def turn(change: Change) -> str:
    """Return what changed at a level, in a few words: "Watch (was advisory): 5-year flood"."""
    return f"{_turn(change)}: {level_title(change.level or '')}"


def other_levels(change: Change) -> str:
    """Return the other levels of the river with an alert, in a sentence; empty where there are none."""
    named = ", ".join(
        f"{level_title(one['level'])} ({one['severity']}, {percent(one['chance'])})"
        for one in change.levels or ()
        if one["level"] != change.level
    )
    return f"Other levels with an alert: {named}." if named else ""


def _turn(change: Change) -> str:
    severity, before = change.severity, change.severity_before
    if severity is None:
        return f"{str(before or 'alert').capitalize()} ended"
    if before is None or before == severity:
        return f"{severity.capitalize()}{', level changed' if change.kind == 'level' else ''}"
    return f"{severity.capitalize()} (was {before})"


def first_of(title: str, others: int) -> str:
    return f"{title} (and {others} more)" if others else title


def values(change: Change, name: str, link: str, others: int = 0) -> dict[str, str]:
    """Return the values of a message template's placeholders. They are empty where the change has none; `others` is the
    number of further messages by the same run."""
    return {
        "headline": first_of(headline(change, name), others),
        "why": change.why,
        "basin": change.basin_id,
        "name": name,
        "level": change.level or "",
        "kind": change.kind,
        "severity": change.severity or "none",
        "chance": "" if change.chance is None else f"{change.chance:.3g}",
        "discharge": "" if change.discharge is None else f"{change.discharge:.6g}",
        "at": change.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "event": change.id,
        "link": link,
    }
