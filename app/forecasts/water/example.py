"""The answers shown in the documentation: a synthetic basin, from the run of its forecast."""

from typing import Any

from app.forecasts.example import FORECAST

OF_THE_RUN = {
    name: FORECAST[name]
    for name in (
        *("basin", "basin_kind", "run", "version", "purpose", "status", "reason", "superseded_by", "t0"),
        *("issued_at", "available_at", "horizon_days", "product", "forcing_kind", "forcing_note"),
        *("bridges", "seen_in_training", "outside_training", "trained_on", "training_note"),
        *("attributes_assumed", "spin_up_days"),
        *("t0_age_days", "age_days", "stale"),
    )
}

STORAGE: dict[str, Any] = OF_THE_RUN | {
    "units": {"at_t0": "mm", "total": "mm", "snow": "mm", "other": "mm", "normal_total": "mm", "normal_snow": "mm"},
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
        "normal_snow.percent_of_normal": "No percentage is given of a normal below 1 mm.",
        "snow_read.at_t0.percent_of_normal": "No percentage is given of a normal below 1 mm.",
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

AGE: dict[str, Any] = OF_THE_RUN | {
    "basin": "SYNTH-05",
    "training_note": "SYNTH-05 is one of the 8 basins that the version learnt from.",
    "time": FORECAST["time"],
    "lead_days": FORECAST["lead_days"],
    "units": {"discharge": "mm/day", "ages": "mm/day"},
    "discharge": [0.5612566, 0.5357144, 0.4909338],
    "ages": [
        {
            "age": "older",
            "first_day": None,
            "last_day": "2007-02-28",
            "mean": [7.019703e-05, 6.870241e-05, 6.507075e-05],
            "p05": [1.004637e-14, 8.815269e-15, 8.291388e-15],
            "p95": [0.0003677583, 0.0003595766, 0.0003412706],
        },
        {
            "age": "2007-MAM",
            "first_day": "2007-03-01",
            "last_day": "2007-05-31",
            "mean": [0.0001214109, 0.0001188416, 0.000112415],
            "p05": [2.308514e-11, 2.005094e-11, 1.843487e-11],
            "p95": [0.0006234398, 0.0006094413, 0.0005781822],
        },
        {
            "age": "2007-JJA",
            "first_day": "2007-06-01",
            "last_day": "2007-08-31",
            "mean": [0.003172586, 0.003115285, 0.00290722],
            "p05": [2.551281e-07, 2.227241e-07, 2.071307e-07],
            "p95": [0.01266022, 0.01234438, 0.01165413],
        },
        {
            "age": "2007-SON",
            "first_day": "2007-09-01",
            "last_day": "2007-11-30",
            "mean": [0.0760736, 0.07492364, 0.06940936],
            "p05": [0.0006500157, 0.0005783668, 0.0005605478],
            "p95": [0.2583717, 0.2562765, 0.2391248],
        },
        {
            "age": "2008-DJF",
            "first_day": "2007-12-01",
            "last_day": "2008-02-29",
            "mean": [0.1905292, 0.186539, 0.172169],
            "p05": [0.03682749, 0.03363573, 0.03175405],
            "p95": [0.4297705, 0.4270479, 0.3976115],
        },
        {
            "age": "2008-MAM",
            "first_day": "2008-03-01",
            "last_day": "2008-04-20",
            "mean": [0.2912896, 0.2709489, 0.2462707],
            "p05": [0.07668545, 0.07443591, 0.06931301],
            "p95": [0.4241848, 0.3826905, 0.3484308],
        },
        {
            "age": "yet_to_fall",
            "first_day": "2008-04-21",
            "last_day": None,
            "mean": [0.0, 0.0, 0.0],
            "p05": [0.0, 0.0, 0.0],
            "p95": [0.0, 0.0, 0.0],
        },
    ],
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
