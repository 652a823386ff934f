"""The answers that the documentation shows: a receiver that failed once and is tried again."""

from typing import Any

DELIVERY: dict[str, Any] = {
    "id": "01a1fa31d0a6718d9e12f4",
    "subscription": "01a1fa2ab3c4d50b5f2e91",
    "event": "01a1fa31cf0a118d9e12f4",
    "kind": "rises",
    "basin": "USGS-13235000",
    "status": "pending",
    "tries": 1,
    "most_tries": 8,
    "next_at": "2026-11-22T14:06:11Z",
    "ended_at": None,
    "missing": {"ended_at": "It is under way."},
}
ATTEMPT: dict[str, Any] = {
    "number": 1,
    "at": "2026-11-22T14:05:11Z",
    "ended_at": "2026-11-22T14:05:12Z",
    "status_code": 503,
    "failure": "It answered 503.",
    "missing": {},
}
DELIVERY_DETAIL: dict[str, Any] = {**DELIVERY, "attempts": [ATTEMPT]}
