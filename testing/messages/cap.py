"""Checks CAP 1.2 messages: against a schema, read back by a library, and the chain of what they refer to."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import capparser
import xmlschema

SCHEMA = Path(__file__).parent / "cap.xsd"


def faults(message: bytes, schema: xmlschema.XMLSchema) -> list[str]:
    """Return what a schema finds wrong with a message."""
    return [str(fault.reason) for fault in schema.iter_errors(message.decode())]


def read(message: bytes) -> dict[str, Any]:
    """Return a message's elements as the library reads them: of `info` and `area`, the first; of pairs, by name."""
    alert = capparser.parse(stringXML=message.decode())
    info = alert.info[0][0]
    area = info.area[0][0]
    pairs = {one.valueName[0]: one.value[0] for one in info.parameter[0]}
    codes = {one.valueName[0]: one.value[0] for one in area.geocode[0]}
    names = ("identifier", "sender", "sent", "status", "msgType", "scope", "references")
    of_info = ("event", "urgency", "severity", "certainty", "expires", "headline", "description")
    return (
        {name: getattr(alert, name)[0] for name in names}
        | {name: getattr(info, name)[0] for name in of_info}
        | {"parameters": pairs, "areaDesc": area.areaDesc[0], "geocodes": codes, "circle": area.circle[0]}
        | {"polygon": area.polygon[0]}
    )


def broken_chains(messages: Sequence[dict[str, Any]]) -> list[str]:
    """Return the identifiers of the messages that do not refer to exactly the earlier ones of their river's alert.

    Args:
        messages: as `read` returns them, oldest first.
    """
    open_alerts: dict[tuple[str, str], list[str]] = {}
    broken = []
    for message in messages:
        named, over = message["parameters"].get("direction"), message["urgency"] == "Past"
        key = (message["geocodes"]["basin"], named)
        earlier = open_alerts.get(key, []) if named else []
        references = (message["references"] or "").split()
        kind = "Alert" if not earlier else "Cancel" if over else "Update"
        if references != earlier or message["msgType"] != kind:
            broken.append(message["identifier"])
        own = f"{message['sender']},{message['identifier']},{message['sent']}"
        if named:
            open_alerts[key] = [] if over else [*earlier, own]
    return broken
