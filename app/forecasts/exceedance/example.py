"""The answer shown in the documentation: a synthetic basin, from the run of its forecast."""

from typing import Any

from app.forecasts.example import FORECAST
from app.forecasts.water.example import OF_THE_RUN

EXCEEDANCE: dict[str, Any] = OF_THE_RUN | {
    "units": {"discharge": "m3/s"},
    "time": FORECAST["time"],
    "lead_days": FORECAST["lead_days"],
    "levels": [
        {
            "name": "bankfull",
            "discharge": 1.2,
            "direction": "rising",
            "flow": "calibrated",
            "chance": [0.031, 0.01, 0.0066],
            "within": 0.04,
            "in_words": "A chance of 1 in 25 that flow rises above bankfull (1.20 m³/s) by 23 April.",
            "reason": None,
        }
    ],
    "missing": {},
}
