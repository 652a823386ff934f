"""The answers that the documentation shows: of a synthetic basin, and of two of which one has no forecast."""

from typing import Any

FORECAST: dict[str, Any] = {
    "basin": "SYNTH-01",
    "basin_kind": "synthetic",
    "run": "01a1f9952f438adb871a00",
    "version": "01a1f962497577be44d37c",
    "purpose": "operational",
    "status": "issued",
    "reason": None,
    "superseded_by": None,
    "t0": "2008-04-20",
    "issued_at": "2008-04-21T06:00:00Z",
    "available_at": "2008-04-21T06:00:00Z",
    "horizon_days": 3,
    "product": "synthetic",
    "forcing_kind": "observed",
    "forcing_note": "A hindcast: driven by the weather observed after T0, which was not known at T0.",
    "bridges": [],
    "seen_in_training": True,
    "outside_training": [],
    "trained_on": "synthetic",
    "training_note": "SYNTH-01 is one of the 8 basins that the version learnt from.",
    "attributes_assumed": [],
    "spin_up_days": 4220,
    "t0_age_days": 1,
    "age_days": 1,
    "stale": False,
    "filled_forcing": {},
    "skipped_days": 0,
    "area": {"name": "synthetic", "km2": 900.0},
    "units": {
        "discharge": "m3/s",
        "calibrated": "m3/s",
        "normal": "m3/s",
        "storage": "mm",
        "precipitation": "mm/day",
        "loss": "mm/day",
        "water_balance": "mm",
    },
    "time": ["2008-04-21", "2008-04-22", "2008-04-23"],
    "lead_days": [1, 2, 3],
    "in_words": "0.810 m³/s was observed on 20 April. 0.770 m³/s is expected on 21 April and 0.505 on 23 April, with "
    "observed weather (a hindcast). Likely, with four chances in five, it is between 0.581 and 1.01 m³/s on 21 "
    "April, and between 0.345 and 0.737 on 23 April. On 20 April the basin held 34.2 mm of water, of which 0.0112 mm "
    "reads as snow (5 to 95 % of the members: 0.00172 to 0.0198 mm).",
    "calibrated": {
        "p01": [0.4417, 0.2932, 0.2411],
        "p05": [0.5298, 0.3704, 0.3052],
        "p10": [0.5811, 0.4169, 0.3455],
        "p25": [0.6702, 0.4987, 0.4169],
        "median": [0.7701, 0.5973, 0.5051],
        "p75": [0.8826, 0.7129, 0.6113],
        "p90": [1.0124, 0.8467, 0.7366],
        "p95": [1.1068, 0.9498, 0.8363],
        "p99": [1.3412, 1.2007, 1.0781],
    },
    "calibration": {
        "hash": "5f0c6a1b2f2cb1d3b3a1d7e0d1f6d09f5a0a8f2f5a4b8b1b6f6b7f6f0e1d2c3b",
        "weather": "observed",
        "fitted_on": "2003-10-01..2004-09-30",
        "own_days": 0,
        "last_observed_day": "2008-04-20",
        "last_observed": 0.8104,
    },
    "quantiles_of": "members",
    "discharge": {
        "p05": [0.5864749, 0.4426532, 0.3986695],
        "p10": [0.6089065, 0.4587384, 0.4041171],
        "p25": [0.6762014, 0.5069938, 0.4204597],
        "median": [0.7883596, 0.5874195, 0.4476975],
        "p75": [0.9603448, 0.655302, 0.4707598],
        "p90": [1.063536, 0.6960315, 0.4845972],
        "p95": [1.097933, 0.709608, 0.4892096],
    },
    "normal": {
        "discharge": [1.1203, 1.1017, 1.0842],
        "percent_of_normal": 55.15325,
        "calibrated_percent_of_normal": 56.63602,
    },
    "storage": {
        "at_t0": 34.24119,
        "total": [33.19901, 31.96723, 30.76712],
        "snow": [0.01379067, 0.02021514, 0.01193339],
        "snow_read": {
            "mapping": "basin",
            "mapping_note": "Snow is read by cells chosen against reference snow of this basin.",
            "p05": [0.00213048, 0.00302377, 0.00171904],
            "p95": [0.02411836, 0.03537241, 0.02094527],
            "volume_m3": [12411.6, 18193.63, 10740.05],
            "at_t0": {
                "mean": 0.01120346,
                "p05": 0.00172213,
                "p95": 0.01981164,
                "normal": 0.2231,
                "percent_of_normal": None,
            },
            "skill": {
                "version": "01a1f962497577be44d37c",
                "products": ["synthetic_snow"],
                "period": {"first_day": "2006-10-01", "last_day": "2008-09-30"},
                "basins": None,
                "r": 0.6002317,
                "bias_pct": -70.47265,
                "where_none_mm": 0.03317246,
            },
        },
    },
    "precipitation": [1.1, 0.0, 0.0],
    "loss": [2.06267, 1.176191, 1.157399],
    "water_balance": {
        "closes": True,
        "scale": {
            "name": "water available",
            "formula": "initial storage + precipitation over the span",
            "unit": "mm",
            "tolerance": 1e-05,
        },
        "mean": {
            "discharge": -0.17781268432736397,
            "loss": -4.396259784698486,
            "precipitation": 1.100000023841858,
            "storage change": 3.4740713145905224,
        },
        "members": {
            "0": {
                "terms": {
                    "discharge": -0.1543823666870594,
                    "loss": -3.97676157951355,
                    "precipitation": 1.100000023841858,
                    "storage change": 3.031144498361755,
                },
                "residual": 5.760030035162345e-07,
                "scale": 30.61202199027502,
                "tolerance": 0.00030612021990275026,
                "closes": True,
            },
            "1": {
                "terms": {
                    "discharge": -0.1535193845629692,
                    "loss": -4.479549050331116,
                    "precipitation": 1.100000023841858,
                    "storage change": 3.5330642964690924,
                },
                "residual": -4.114583134651184e-06,
                "scale": 34.69175980705768,
                "tolerance": 0.0003469175980705768,
                "closes": True,
            },
            "2": {
                "terms": {
                    "discharge": -0.2255363017320633,
                    "loss": -4.7324687242507935,
                    "precipitation": 1.100000023841858,
                    "storage change": 3.8580051489407197,
                },
                "residual": 1.467997208237648e-07,
                "scale": 40.71979413693771,
                "tolerance": 0.00040719794136937713,
                "closes": True,
            },
        },
        "since_empty_store": {
            "days": 4220,
            "scale": {
                "name": "water since the empty store",
                "formula": "precipitation since the store was empty",
                "unit": "mm",
                "tolerance": 5e-06,
            },
            "members": {
                "0": {
                    "residual": -1.1400001312722452e-05,
                    "scale": 3429.5199924744666,
                    "relative": -3.3240807278388617e-09,
                },
                "1": {"residual": 1.674437373822002e-05, "scale": 3429.5199924744666, "relative": 4.88242488014733e-09},
                "2": {
                    "residual": -9.66302646929762e-05,
                    "scale": 3429.5199924744666,
                    "relative": -2.817603189513864e-08,
                },
            },
        },
    },
    "provenance": {
        "weights_hash": "2f39b5442638ac04770f8026af08fbbe83d0a22513c25a0da8357c94305a1aa9",
        "code_version": "0.1.0",
        "program": "torch 2.13.0+cpu for AVX512, recurrence avx512",
        "parent_state": {
            "day": "2007-09-30",
            "hash": "c9956b411636432ca5e6c69b496a6a2ae03153ed9d49e9edc00bb4aa59801ff6",
        },
        "state_hash": "cd110e1dcc75d3c61811972cff2d2e66cbd3572ec2cfdaa497b52999b274b995",
        "inputs_hash": "6843757111b51b9328a0d595e9eb06d998d8248da1d4f4b9e8b411e24687f0a0",
        "created_at": "2026-11-20T15:31:06.179910Z",
    },
    "missing": {
        "storage.snow_read.at_t0.percent_of_normal": "No percentage is given of a normal below 1 mm.",
    },
}
FORECASTS: dict[str, Any] = {
    "forecasts": [FORECAST],
    "without": [
        {
            "basin": "SYNTH-03",
            "type": "/problems/no-forecast",
            "reason": "Version 01a1f962497577be44d37c has no available forecast of SYNTH-03 yet: run one. "
            "To make one: freshet forecast --basin SYNTH-03.",
        }
    ],
}
