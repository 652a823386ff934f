"""The answers that the documentation shows: of a synthetic basin, out of the run that its forecast is told from."""

from typing import Any

from app.forecasts.example import FORECAST

OF_THE_RUN = {
    name: FORECAST[name]
    for name in (
        *("basin", "basin_kind", "run", "version", "purpose", "status", "reason", "superseded_by", "t0"),
        *("issued_at", "available_at", "horizon_days", "product", "forcing_kind", "forcing_note"),
        *("bridges", "seen_in_training", "outside_training", "trained_on", "training_note"),
        *("attributes_assumed", "spin_up_days"),
        *("age_days", "stale"),
    )
}

STORAGE: dict[str, Any] = OF_THE_RUN | {
    "units": {"total": "mm", "snow": "mm", "other": "mm", "normal_total": "mm", "normal_snow": "mm"},
    "time": FORECAST["time"],
    "lead_days": FORECAST["lead_days"],
    **FORECAST["storage"],
    "other": [33.18522, 31.94702, 30.75519],
    "normal_total": {
        "water": [41.20313, 40.11892, 39.0534],
        "percent_of_normal": [80.574, 79.68118, 78.78218],
    },
    "normal_snow": {"water": [0.2114, 0.1962, 0.1811], "percent_of_normal": [None, None, None]},
    "snow_skill": [
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
    "missing": {
        "normal_snow.percent_of_normal": "Of a normal below 1 mm no percent is told.",
        "snow_read.at_t0.percent_of_normal": "Of a normal below 1 mm no percent is told.",
    },
}

ORIGIN: dict[str, Any] = OF_THE_RUN | {
    "units": {"ceiling": "mm"} | dict.fromkeys(("discharge", "stored", "snow", "other", "yet_to_fall"), "mm/day"),
    "time": FORECAST["time"],
    "lead_days": FORECAST["lead_days"],
    "ceiling": 14.04604,
    "discharge": [0.0538028, 0.03929127, 0.02692423],
    "stored": {
        "mean": [0.04141809, 0.0283833, 0.02320389],
        "p05": [0.03471633, 0.0251689, 0.0196903],
        "p95": [0.04539596, 0.03087236, 0.02735083],
    },
    "snow": {
        "mean": [0.0001718684, 8.695741e-05, 5.94964e-05],
        "p05": [2.17303e-07, 1.456344e-07, 7.031683e-08],
        "p95": [0.0004623063, 0.0002336199, 0.0001600778],
    },
    "other": {
        "mean": [0.04124622, 0.02829634, 0.02314439],
        "p05": [0.03425403, 0.02493528, 0.01967189],
        "p95": [0.04539574, 0.03087221, 0.02733305],
    },
    "yet_to_fall": {
        "mean": [0.0123847, 0.01090797, 0.003720348],
        "p05": [0.006385652, 0.004008867, 0.00233536],
        "p95": [0.01718286, 0.01636823, 0.005453819],
    },
    "missing": {},
}

BALANCE: dict[str, Any] = OF_THE_RUN | {
    "units": {"water_balance": "mm", "loss_beside_pet": "mm/year"},
    "first_day": "2008-04-21",
    "last_day": "2008-04-23",
    "water_balance": FORECAST["water_balance"],
    "loss_beside_pet": {
        "period": {"first_day": "1997-10-01", "last_day": "2008-09-30"},
        "mean": 301.2184,
        "members": {"0": 295.1102, "1": 304.9911, "2": 303.5539},
        "pet": 1114.02,
        "exceeding": [],
    },
    "missing": {},
}

LONG_TERM: dict[str, Any] = OF_THE_RUN | {
    "units": {"simulated": "mm/year", "observed": "mm/year"},
    "period": {"first_day": "1998-10-01", "last_day": "2008-04-20"},
    "simulated": {"precipitation": 812.4092, "discharge": 398.2201, "loss": 412.7197, "stored": 1.4694},
    "observed": {"runoff": 371.0834, "days": 3301},
    "missing": {},
}
