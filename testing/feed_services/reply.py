"""An answer of the local server."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    """Status, body and headers."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """Return a reply in JSON."""
    return Reply(status, json.dumps(content).encode(), {"Content-Type": "application/json"} | dict(headers or {}))
