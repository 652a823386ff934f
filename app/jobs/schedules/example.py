"""The answer shown in the documentation: a forecast every day."""

from typing import Any

SCHEDULE: dict[str, Any] = {
    "id": "01a1fa31d0a6718d9e12f4",
    "name": "daily forecast",
    "job": {"kind": "forecast", "params": {"horizon": 10}},
    "cron": "30 6 * * *",
    "timezone": "America/Denver",
    "enabled": True,
    "next_run_at": "2026-11-21T13:30:00Z",
    "last_run_at": "2026-11-20T13:30:00.204113Z",
    "last_job": "01a1f9c5b2d00b8d9e77aa",
    "key": "01a1fa2ab3c4d50b5f2e91",
    "revision": 2,
    "created_at": "2026-11-19T15:36:30.549724Z",
    "updated_at": "2026-11-19T15:36:30.549724Z",
    "missing": {},
}
