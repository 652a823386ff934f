"""The answer that the documentation shows: a run on synthetic basins."""

from typing import Any

RUN: dict[str, Any] = {
    "id": "01a1f9952f438adb871a00",
    "version": "01a1f962497577be44d37c",
    "purpose": "operational",
    "official": True,
    "what_if": None,
    "status": "issued",
    "reason": None,
    "t0": "2008-04-20",
    "t0_age_days": 1,
    "t0_note": None,
    "horizon_days": 3,
    "issued_at": "2008-04-21T06:00:00Z",
    "available_at": "2008-04-21T06:00:00Z",
    "created_at": "2026-11-20T15:31:06.179910Z",
    "product": "synthetic",
    "forcing_kind": "observed",
    "weather": None,
    "members": 3,
    "forcing_cutoff": "2008-04-23",
    "weights_hash": "2f39b5442638ac04770f8026af08fbbe83d0a22513c25a0da8357c94305a1aa9",
    "code_version": "0.1.0",
    "program": "torch 2.13.0+cpu for AVX512, recurrence avx512",
    "trained_on": "synthetic",
    "basins": [
        {
            "basin": "SYNTH-01",
            "basin_kind": "synthetic",
            "status": "issued",
            "reason": None,
            "seen_in_training": True,
            "attributes_assumed": [],
        },
        {
            "basin": "SYNTH-02",
            "basin_kind": "synthetic",
            "status": "issued",
            "reason": None,
            "seen_in_training": True,
            "attributes_assumed": [],
        },
    ],
}
