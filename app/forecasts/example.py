"""The example of a forecast that the documentation shows."""

from typing import Any

FORECAST: dict[str, Any] = {
    "basin": "USGS-01013500",
    "basin_kind": "usgs",
    "run": "011cb6d1be80a1c3e5f709",
    "version": "011cb6d0d4209b8d7f6a51",
    "purpose": "operational",
    "status": "issued",
    "reason": None,
    "superseded_by": None,
    "t0": "2008-04-20",
    "issued_at": "2008-04-21T06:00:00Z",
    "available_at": "2008-04-21T06:00:00Z",
    "horizon_days": 3,
    "product": "maurer_extended",
    "forcing_kind": "observed",
    "forcing_note": "A hindcast: driven by the weather observed after T0, which nobody could have known at T0.",
    "filled_forcing": {},
    "area": {"name": "maurer_extended", "km2": 2303.988},
    "units": {
        "discharge": "m3/s",
        "storage": "mm",
        "precipitation": "mm/day",
        "loss": "mm/day",
        "water_balance": "mm",
    },
    "time": ["2008-04-21", "2008-04-22", "2008-04-23"],
    "lead_days": [1, 2, 3],
    "discharge": {
        "p05": [136.8, 140.934, 148.7363],
        "p10": [137.6, 141.868, 149.87],
        "p25": [140.0, 144.67, 153.2713],
        "median": [144.0, 149.34, 158.94],
        "p75": [148.0, 154.01, 164.6088],
        "p90": [150.4, 156.812, 168.01],
        "p95": [151.2, 157.746, 169.1438],
    },
    "storage": {"total": [311.65, 305.2, 305.39], "snow": [148.05, 139.9, 131.2]},
    "precipitation": [0.0, 0.0, 7.25],
    "loss": [0.8, 0.85, 1.1],
    "water_balance": {
        "closes": True,
        "mean": {"discharge": -16.9605, "loss": -2.75, "precipitation": 7.25, "storage change": 12.4605},
        "members": {
            "0": {
                "terms": {"discharge": -15.885, "loss": -2.85, "precipitation": 7.25, "storage change": 11.48504},
                "residual": 0.00004,
                "tolerance": 0.00325,
                "closes": True,
            },
            "1": {
                "terms": {"discharge": -18.036, "loss": -2.65, "precipitation": 7.25, "storage change": 13.43596},
                "residual": -0.00004,
                "tolerance": 0.00325,
                "closes": True,
            },
        },
    },
    "provenance": {
        "weights_hash": "5d0f6c1e3a7b92c4e8f1a0b3d6c9f2e5a8b1c4d7e0f3a6b9c2d5e8f1a4b7c0d3",
        "code_version": "0.1.0",
        "parent_state": {
            "day": "2008-04-19",
            "hash": "a3c5e7092b4d6f81a3c5e7092b4d6f81a3c5e7092b4d6f81a3c5e7092b4d6f81",
        },
        "state_hash": "1b3d5f7092b4d6f8a1c3e5f7092b4d6f8a1c3e5f7092b4d6f8a1c3e5f7092b4d",
        "inputs_hash": "e8f1a4b7c0d35d0f6c1e3a7b92c4e8f1a0b3d6c9f2e5a8b1c4d7e0f3a6b9c2d5",
        "created_at": "2026-11-20T12:00:00Z",
    },
    "missing": {},
}
