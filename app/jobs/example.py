"""The example answers of the documentation: a forecast of two synthetic basins."""

from typing import Any

JOB: dict[str, Any] = {
    "id": "01a1fa30c5d6a78d9e12f4",
    "kind": "forecast",
    "params": {"basins": ["SYNTH-01", "SYNTH-02"], "horizon": 10},
    "status": "succeeded",
    "attempt": 1,
    "max_attempts": 3,
    "progress": {"done": 2, "total": 2, "detail": ""},
    "result": {"runs": [{"run": "01a1fa30c9e2f0a4b7d3c5", "status": "issued", "t0": "2008-09-20"}]},
    "problem": None,
    "parent": None,
    "schedule": None,
    "created_by": "river office",
    "created_at": "2026-11-20T15:36:30.549724Z",
    "sent_at": "2026-11-20T15:36:30.561903Z",
    "started_at": "2026-11-20T15:36:30.580114Z",
    "cancel_requested_at": None,
    "finished_at": "2026-11-20T15:36:32.105230Z",
    "events": "/v1/jobs/01a1fa30c5d6a78d9e12f4/events",
    "missing": {
        "problem": "Only a job that has failed has one.",
        "parent": "No other job has posted it.",
        "schedule": "No schedule has posted it.",
        "cancel_requested_at": "Nobody has asked it to stop.",
    },
}
EVENTS = (
    "id: 17\nevent: status\n"
    'data: {"at": "2026-11-20T15:36:30.580114Z", "status": "running", "attempt": 1, "cancel_requested": false}\n\n'
    "id: 18\nevent: progress\n"
    'data: {"at": "2026-11-20T15:36:31.580114Z", "done": 1, "total": 2, "detail": ""}\n\n'
)
