"""The answers that the documentation shows: of a small version trained on synthetic basins."""

from typing import Any

BASIN_SKILL: dict[str, Any] = {
    "basin": "SYNTH-01",
    "basin_kind": "synthetic",
    "version": "01a1f962497577be44d37c",
    "scored": "01a1f962497577be44d37c",
    "seen_in_training": True,
    "trained_on": "synthetic",
    "product": "synthetic",
    "scores": [
        {
            "member": "mean",
            "metric": "nse",
            "period": {"first_day": "2006-10-01", "last_day": "2008-09-30"},
            "lead": "all",
            "season": "all",
            "threshold": "all",
            "forcing_kind": "observed",
            "reference": "observed",
            "n": 731,
            "value": 0.5325716147644866,
            "reason": None,
            "low": None,
            "high": None,
            "attributes_assumed": [],
            "shipped": False,
            "evaluated_at": "2026-11-20T14:35:32.608661Z",
        }
    ],
    "snow": [
        {
            "label": "not trained on snow",
            "product": "synthetic_snow",
            "cells": {"0": [8], "1": [8, 2], "2": [14]},
            "training": {"period": {"first_day": "1998-10-01", "last_day": "2005-09-30"}, "r": 0.2117690098133172},
            "test": {"period": {"first_day": "2006-10-01", "last_day": "2008-09-30"}, "r": 0.6002316687706507},
            "bias_pct": -70.47264541610603,
            "where_none_mm": 0.03317246,
            "reason": None,
            "evaluated_at": "2026-11-20T14:37:56.508110Z",
        }
    ],
    "missing": {},
}

MODEL_SKILL: dict[str, Any] = {
    "version": "01a1f962497577be44d37c",
    "scored": "01a1f962497577be44d37c",
    "scores": [
        {
            "member": "mean",
            "metric": "nse",
            "period": {"first_day": "2006-10-01", "last_day": "2008-09-30"},
            "lead": "all",
            "season": "all",
            "threshold": "all",
            "forcing_kind": "observed",
            "reference": "observed",
            "n": 8,
            "lacking": 0,
            "shipped": 0,
            "p25": 0.5652289308444762,
            "median": 0.6629831882527282,
            "p75": 0.7103552420659562,
        }
    ],
}
