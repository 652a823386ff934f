"""The answer that the documentation shows: of a synthetic basin."""

from typing import Any

from app.forecasts.example import FORECAST
from app.forecasts.water.example import OF_THE_RUN

DRAIN_DOWN: dict[str, Any] = OF_THE_RUN | {
    "purpose": "what-if",
    "forcing_kind": "dry",
    "forcing_note": (
        "Hypothetical dry weather: no precipitation after T0, and the mean of other years for all else. It is not a "
        "forecast."
    ),
    "forcing_cutoff": "2008-04-20",
    "time": FORECAST["time"],
    "lead_days": FORECAST["lead_days"],
    "units": {
        "discharge": "m3/s",
        "low_flows.discharge": "m3/s",
        "ceiling": "mm",
        "runs_off": "mm",
        "lost": "mm",
        "left": "mm",
        "totals": "mm",
        "totals.runs_off_volume": "1e6 m3",
    },
    "discharge": {
        "p05": [0.005925102, 0.005360806, 0.004874781],
        "p10": [0.008386026, 0.00771602, 0.007127991],
        "p25": [0.01113461, 0.009976511, 0.00914932],
        "median": [0.02780197, 0.02638674, 0.02485688],
        "p75": [0.04260506, 0.04149612, 0.04037076],
        "p90": [0.04648571, 0.04477215, 0.04269592],
        "p95": [0.0508602, 0.04925541, 0.04701078],
    },
    "ceiling": 10.18377,
    "runs_off": [0.002668508, 0.00521976, 0.00764769],
    "lost": [0.5889372, 1.142257, 1.663286],
    "left": [9.592161, 9.03629, 8.512833],
    "totals": [
        {
            "day": "2008-04-23",
            "days": 3,
            "runs_off": {"mean": 0.00764769, "p05": 0.001551426, "p95": 0.01412413},
            "runs_off_volume": 0.006882921,
            "lost": {"mean": 1.663286, "p05": 0.2391643, "p95": 3.088559},
            "left": {"mean": 8.512833, "p05": 0.5629338, "p95": 19.4278},
        }
    ],
    "low_flows": [
        {
            "name": "7q10",
            "discharge": 0.001189212,
            "day": None,
            "p05": None,
            "p95": None,
            "days": None,
            "in_words": None,
            "reason": "In 0 of 10 members flow falls below it within the 3 days.",
        },
        {
            "name": "exceeded-70",
            "discharge": 0.0369195,
            "day": None,
            "p05": None,
            "p95": None,
            "days": None,
            "in_words": None,
            "reason": "Flow was below it at T0 already: 0.0303 m³/s in the mean of the members.",
        },
        {
            "name": "exceeded-90",
            "discharge": 0.01010402,
            "day": None,
            "p05": "2008-04-21",
            "p95": None,
            "days": None,
            "in_words": None,
            "reason": "In 3 of 10 members flow falls below it within the 3 days.",
        },
    ],
    "missing": {},
    "in_words": "If no more rain or snow fell, 0.00765 of the 10.2 mm of water in the basin "
    "would run off by 23 April, 1.66 mm be lost and 8.51 mm be left.",
}
