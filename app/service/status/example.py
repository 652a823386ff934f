"""The answer that the documentation shows: of a service with synthetic basins."""

from typing import Any

STATUS: dict[str, Any] = {
    "status": "ok",
    "degraded": [],
    "now": "2008-04-21T06:00:00Z",
    "replayed": True,
    "version": "0.1.0",
    "database_revision": "0002",
    "counts": {"basins": 8, "basins_with_model": 8, "model_versions": 1, "runs": 1},
    "processes": {"schedulers": 1, "workers": {"default": 1, "delivery": 1, "ingest": 1, "service": 2, "training": 1}},
    "stale_after_days": 3,
    "versions": [
        {
            "version": "01a1f962497577be44d37c",
            "product": "synthetic",
            "current_for": 8,
            "runs": 1,
            "newest_t0": "2008-04-20",
            "newest_issue": "2008-04-21T06:00:00Z",
            "age_days": 1,
            "stale": False,
        }
    ],
    "inputs": [
        {"product": "synth", "newest_day": "2008-09-30", "age_days": -162, "stale": False, "used": False},
        {"product": "synthetic", "newest_day": "2008-09-30", "age_days": -162, "stale": False, "used": True},
        {"product": "synthetic_snow", "newest_day": "2008-09-30", "age_days": -162, "stale": False, "used": False},
        {"product": "synthetic_truth", "newest_day": "2008-09-30", "age_days": -162, "stale": False, "used": False},
    ],
    "missing": {},
}
