"""The answers that the documentation shows: a weather forecast of two traces for one synthetic basin."""

from typing import Any

_IDENTITY: dict[str, Any] = {
    "id": "01a1f9952f438adb871a00",
    "source": "our-own",
    "model": "two-guesses",
    "reference_time": "2008-04-21T00:00:00Z",
    "licence": None,
    "credit": "Weather guessed by the river office",
}
ISSUE: dict[str, Any] = {
    **_IDENTITY,
    "operational": True,
    "created_at": "2026-11-20T15:31:06.179910Z",
    "basins": [
        {
            "basin": "SYNTH-01",
            "available_time": "2008-04-21T05:00:00Z",
            "first_day": "2008-04-21",
            "last_day": "2008-04-22",
            "traces": 2,
            "variables": ["precipitation", "tmax", "tmin"],
        }
    ],
}
WEATHER: dict[str, Any] = {
    **_IDENTITY,
    "available_time": "2008-04-21T05:00:00Z",
    "basin": "SYNTH-01",
    "units": {"precipitation": "mm/day", "tmax": "degC", "tmin": "degC"},
    "time": ["2008-04-21", "2008-04-22"],
    "traces": {
        "dry": {"precipitation": [0.0, 0.5], "tmax": [9.0, 8.5], "tmin": [1.0, 0.5]},
        "wet": {"precipitation": [7.5, 12.0], "tmax": [8.0, 7.0], "tmin": [2.0, 1.5]},
    },
}
