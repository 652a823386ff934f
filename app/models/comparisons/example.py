"""The answer that the documentation shows: two small networks on eight basins of CAMELS-US, in one metric.

They were trained for some seconds on four years: their scores do not show the potential of such networks.
"""

from dataclasses import asdict
from typing import Any

from hydrology.scores.published_medians import TABLE

_PRINTED = [
    {"model": one.model, "medians": [asdict(median) for median in one.medians if median.metric == "nse"]}
    for one in TABLE
]
_CITATION = (
    "Hydrological models: Kratzert 2019, CAMELS benchmark models, "
    "doi:10.4211/hs.474ecc37e7db45baa425cdb4fc1b61e1, scored in "
    "sruzzante/NSE-and-Variance-Components@fc9d925d. LSTM_multiforcing_ens10 is of another study, takes "
    "several weather products, and is scored in the same repository."
)

COMPARISON: dict[str, Any] = {
    "id": "01a1fa0eed68ca41617f9e",
    "created_at": "2026-11-20T17:44:04.712076Z",
    "period": {"first_day": "1989-10-01", "last_day": "1999-09-30"},
    "versions": [
        {
            "id": "01a1fa0e9648facf5a37a5",
            "label": "80 steps",
            "architecture": "mclstm",
            "conserving": True,
            "product": "maurer_extended",
            "members": 2,
            "parameters": 3280,
            "training_seconds": 81.25733060697894,
            "machines": ["2 x AMD EPYC"],
            "missing": {},
        },
        {
            "id": "01a1fa0ecaa6b2d2d3e2b1",
            "label": "30 steps",
            "architecture": "mclstm",
            "conserving": True,
            "product": "maurer_extended",
            "members": 2,
            "parameters": 3280,
            "training_seconds": 13.215768086005482,
            "machines": ["2 x AMD EPYC"],
            "missing": {},
        },
    ],
    "scores": [
        {
            "metric": "nse",
            "unit": "1",
            "perfect": 1.0,
            "n": 8,
            "lacking": 0,
            "versions": [
                {
                    "version": "01a1fa0e9648facf5a37a5",
                    "p25": 0.45708313952073487,
                    "median": 0.5942712291066747,
                    "p75": 0.6284744105858022,
                },
                {
                    "version": "01a1fa0ecaa6b2d2d3e2b1",
                    "p25": 0.23743469477664966,
                    "median": 0.3415470321754596,
                    "p75": 0.4129238362238553,
                },
            ],
            "differences": [
                {
                    "version": "01a1fa0ecaa6b2d2d3e2b1",
                    "n": 8,
                    "median": -0.214294170163366,
                    "better": 0,
                    "worse": 8,
                    "p": 0.0078125,
                    "reason": None,
                }
            ],
        }
    ],
    "published_models": [
        {
            "model": "FUSE_900",
            "source": "sruzzante/NSE-and-Variance-Components@fc9d925d",
            "citation": _CITATION,
            "scores": [
                {
                    "metric": "nse",
                    "n": 8,
                    "p25": 0.68869,
                    "median": 0.77152,
                    "p75": 0.831855,
                    "first": {"p25": 0.45708313952073487, "median": 0.5942712291066747, "p75": 0.6284744105858022},
                    "difference": {
                        "n": 8,
                        "median": 0.22798248013734007,
                        "better": 8,
                        "worse": 0,
                        "p": 0.0078125,
                        "reason": None,
                    },
                }
            ],
        },
        {
            "model": "HBV_ub",
            "source": "sruzzante/NSE-and-Variance-Components@fc9d925d",
            "citation": _CITATION,
            "scores": [
                {
                    "metric": "nse",
                    "n": 8,
                    "p25": 0.7328574999999999,
                    "median": 0.79269,
                    "p75": 0.826125,
                    "first": {"p25": 0.45708313952073487, "median": 0.5942712291066747, "p75": 0.6284744105858022},
                    "difference": {
                        "n": 8,
                        "median": 0.22938750690518922,
                        "better": 8,
                        "worse": 0,
                        "p": 0.0078125,
                        "reason": None,
                    },
                }
            ],
        },
        {
            "model": "LSTM_multiforcing_ens10",
            "source": "sruzzante/NSE-and-Variance-Components@fc9d925d",
            "citation": _CITATION,
            "scores": [
                {
                    "metric": "nse",
                    "n": 8,
                    "p25": 0.88345,
                    "median": 0.913875,
                    "p75": 0.93694,
                    "first": {"p25": 0.45708313952073487, "median": 0.5942712291066747, "p75": 0.6284744105858022},
                    "difference": {
                        "n": 8,
                        "median": 0.32722377089332527,
                        "better": 8,
                        "worse": 0,
                        "p": 0.0078125,
                        "reason": None,
                    },
                }
            ],
        },
        {
            "model": "SAC_SMA",
            "source": "sruzzante/NSE-and-Variance-Components@fc9d925d",
            "citation": _CITATION,
            "scores": [
                {
                    "metric": "nse",
                    "n": 8,
                    "p25": 0.48590249999999996,
                    "median": 0.72234,
                    "p75": 0.8110225,
                    "first": {"p25": 0.45708313952073487, "median": 0.5942712291066747, "p75": 0.6284744105858022},
                    "difference": {
                        "n": 8,
                        "median": 0.15345942861419204,
                        "better": 6,
                        "worse": 2,
                        "p": 0.1484375,
                        "reason": None,
                    },
                }
            ],
        },
        {
            "model": "VIC_basin",
            "source": "sruzzante/NSE-and-Variance-Components@fc9d925d",
            "citation": _CITATION,
            "scores": [
                {
                    "metric": "nse",
                    "n": 8,
                    "p25": 0.55718,
                    "median": 0.75413,
                    "p75": 0.82364,
                    "first": {"p25": 0.45708313952073487, "median": 0.5942712291066747, "p75": 0.6284744105858022},
                    "difference": {
                        "n": 8,
                        "median": 0.2132924801373401,
                        "better": 6,
                        "worse": 2,
                        "p": 0.0390625,
                        "reason": None,
                    },
                }
            ],
        },
        {
            "model": "mHm_basin",
            "source": "sruzzante/NSE-and-Variance-Components@fc9d925d",
            "citation": _CITATION,
            "scores": [
                {
                    "metric": "nse",
                    "n": 8,
                    "p25": 0.73868,
                    "median": 0.77333,
                    "p75": 0.81954,
                    "first": {"p25": 0.45708313952073487, "median": 0.5942712291066747, "p75": 0.6284744105858022},
                    "difference": {
                        "n": 8,
                        "median": 0.213919428614192,
                        "better": 8,
                        "worse": 0,
                        "p": 0.0078125,
                        "reason": None,
                    },
                }
            ],
        },
    ],
    "published_table": {
        "comparable": False,
        "note": "Other basins or period: it is of 447 basins over 1989-10-01..1999-09-30, on the "
        "weather product maurer_extended.",
        "period": {"first_day": "1989-10-01", "last_day": "1999-09-30"},
        "basins": 447,
        "product": "maurer_extended",
        "models": _PRINTED,
    },
    "basins": [
        "USGS-01022500",
        "USGS-01031500",
        "USGS-03439000",
        "USGS-06409000",
        "USGS-09081600",
        "USGS-10234500",
        "USGS-12010000",
        "USGS-13235000",
    ],
    "left_out": {},
    "official": True,
    "by_basin": [
        {
            "metric": "nse",
            "version": "01a1fa0e9648facf5a37a5",
            "values": [0.5619243, 0.6328887, 0.627003, 0.126492, 0.6266182, 0.1790582, 0.6494269, 0.5497581],
            "differences": None,
        },
        {
            "metric": "nse",
            "version": "01a1fa0ecaa6b2d2d3e2b1",
            "values": [0.3574746, 0.370171, 0.5698906, -0.2889366, 0.3092609, 0.02195613, 0.5411823, 0.3256195],
            "differences": [
                -0.2044497,
                -0.2627177,
                -0.05711233,
                -0.4154286,
                -0.3173573,
                -0.1571021,
                -0.1082446,
                -0.2241386,
            ],
        },
    ],
    "missing": {},
}
