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
_PERIOD = "1999-10-01..2008-09-30"
REQUESTS: dict[str, dict[str, Any]] = {
    "forecast": {"horizon": 10},
    "daily": {"horizon": 10},
    "ingest": {"source": "camels", "from": ["/srv/camels"]},
    "fetch": {"feed": "usgs-flow"},
    "bridge": {"name": "live_as_maurer", "fit": {"from": "live", "to": "maurer_extended"}},
    "replay": {"period": "2008-04-01..2008-04-30"},
    "climate": {"basin": "SYNTH-01"},
    "training": {
        "config": {
            "inputs": {"product": "maurer_extended"},
            "train_period": _PERIOD,
            "validation_period": "1980-10-01..1989-09-30",
        }
    },
    "retraining": {"promote": True},
    "what-if": {"changes": {"degrees": 2.0, "storm": {"mm": 30.0, "lead": 2}}, "note": "A warm storm on the snow?"},
    "volumes": {"season": "04-01..07-31"},
    "evaluation": {"period": "1989-10-01..1999-09-30"},
    "calibration": {"period": "1989-10-01..1999-09-30"},
    "reforecast": {"period": "1989-10-01..1999-09-30", "every": 5},
    "verification": {},
    "levels": {},
    "comparison": {
        "period": "1989-10-01..1999-09-30",
        "versions": ["011cb6d0d4209b8d7f6a51", "01a1fa2ab3c4d50b5f2e91"],
    },
    "pretrained": {"promote": True},
    "check": {},
    "prune": {},
}
"""Parameters of a job of each kind, the most common first."""
EVENTS = (
    "id: 17\nevent: status\n"
    'data: {"at": "2026-11-20T15:36:30.580114Z", "status": "running", "attempt": 1, "cancel_requested": false}\n\n'
    "id: 18\nevent: progress\n"
    'data: {"at": "2026-11-20T15:36:31.580114Z", "done": 1, "total": 2, "detail": ""}\n\n'
)
