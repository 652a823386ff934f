"""The answer that the documentation shows: a basin with years of both products, and one like it."""

from typing import Any

BRIDGE: dict[str, Any] = {
    "id": "01a2051113be34bcbe0294",
    "name": "live_as_maurer",
    "from_product": "live",
    "to_product": "maurer_extended",
    "model": None,
    "first_day": "1999-10-01",
    "last_day": "2008-09-30",
    "created_at": "2026-11-22T21:02:14Z",
    "missing": {"model": "It is for observed weather."},
}
_FACTORS = [0.94, 0.94, 0.93, 0.93, 0.92, 0.92, 0.92, 0.92, 0.93, 0.93, 0.94, 0.94]
_STEPS = [-0.2, -0.2, -0.2, -0.1, -0.1, 0.0, 0.0, 0.0, -0.1, -0.1, -0.2, -0.2]
_SKILL = {"as_it_is": {"bias": 0.077, "correlation": 0.452}, "bridged": {"bias": -0.001, "correlation": 0.965}}
_FITTED: dict[str, Any] = {
    "basin": "USGS-01031500",
    "pooled_from": [],
    "pooled_reason": None,
    "day_offset": 0.8,
    "factors": {"precipitation": _FACTORS, "srad": _FACTORS, "vp": _FACTORS},
    "steps": {"tmax": _STEPS, "tmin": _STEPS},
    "limited": [],
    "held_out": {"days": 3288, "variables": {"precipitation": _SKILL}},
    "applied_at": "2026-11-22T21:02:20Z",
    "hash": "8b2c1ff2df2b90c3f4b8a5b1b2b4df0b3e36a50aa4a2d7d1c8b5b7b0f3d9a6e1",
    "missing": {"pooled_reason": "It was fitted here."},
}
BRIDGE_DETAIL: dict[str, Any] = BRIDGE | {
    "basins": [
        _FITTED,
        _FITTED
        | {
            "basin": "USGS-01030000",
            "pooled_from": ["USGS-01031500", "USGS-01022500", "USGS-01547700"],
            "pooled_reason": "USGS-01030000 has no weather of maurer_extended on the days asked for.",
            "held_out": None,
            "missing": {"held_out": "It has no days of its own to hold out."},
        },
    ],
    "refused": {},
}
