"""Examples of requests for jobs."""

from typing import Any

from jobspec.kinds import REQUESTABLE

_PERIOD = "1999-10-01..2008-09-30"
_WITH_PARAMS: dict[str, dict[str, Any]] = {
    "forecast": {"horizon": 10},
    "daily": {"horizon": 10},
    "ingest": {"source": "camels", "from": ["/srv/camels"]},
    "fetch": {"feed": "usgs-flow"},
    "backfill": {"feed": "ahead", "days": 120},
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
    "comparison": {
        "period": "1989-10-01..1999-09-30",
        "versions": ["011cb6d0d4209b8d7f6a51", "01a1fa2ab3c4d50b5f2e91"],
    },
    "pretrained": {"promote": True},
}
REQUESTS = _WITH_PARAMS | {kind: {} for kind in REQUESTABLE if kind not in _WITH_PARAMS}
"""Parameters of a job of each kind, the most common first."""
