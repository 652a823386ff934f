"""The answer that the documentation shows: discharge of two gauges, one of which failed."""

from typing import Any

SETTINGS: dict[str, Any] = {"adapter": "usgs", "basins": ["USGS-01013500", "USGS-13235000"]}
BASINS: list[dict[str, Any]] = [
    {
        "basin": "USGS-01013500",
        "status": "new",
        "new_days": 1,
        "revised_days": 0,
        "reason": None,
        "tried_at": "2026-11-22T14:05:11Z",
        "fetched_at": "2026-11-22T14:05:11Z",
        "holes": [
            {
                "first": "2026-08-30",
                "last": "2026-08-30",
                "variables": ["discharge"],
                "fetch": "freshet feeds fetch usgs-flow --basin USGS-01013500 --period 2026-08-30..2026-08-30",
            }
        ],
        "warnings": [],
    },
    {
        "basin": "USGS-13235000",
        "status": "failed",
        "new_days": 0,
        "revised_days": 0,
        "reason": "A value of USGS-13235000 is not in ft^3/s: nothing of the basin was taken.",
        "tried_at": "2026-11-22T14:05:11Z",
        "fetched_at": "2026-11-21T14:05:09Z",
        "holes": [],
        "warnings": [],
    },
]
FEED: dict[str, Any] = {
    "id": "01a1fa31d0a6718d9e12f4",
    "name": "usgs-flow",
    "adapter": "usgs",
    "settings": SETTINGS,
    "product": None,
    "created_at": "2026-11-19T15:36:30.549724Z",
    "last_fetch_at": "2026-11-22T14:05:11Z",
    "last_success_at": "2026-11-21T14:05:09Z",
    "last_error": f"1 of 2 basins failed. USGS-13235000: {BASINS[1]['reason']}",
    "last_error_at": "2026-11-22T14:05:11Z",
    "missing": {"product": "It brings discharge, which is stored under its gauge's product, or weather forecasts."},
}
FEED_DETAIL: dict[str, Any] = {**FEED, "basins": BASINS}
