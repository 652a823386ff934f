"""The answer that the documentation shows: of a synthetic basin."""

from typing import Any

from app.forecasts.example import FORECAST
from app.forecasts.water.example import OF_THE_RUN

VOLUMES: dict[str, Any] = OF_THE_RUN | {
    "purpose": "on-request",
    "horizon_days": 102,
    "forcing_kind": "climatology",
    "forcing_note": "Driven by the weather of other years for the days after T0.",
    "forcing_cutoff": "2008-04-20",
    "traces": 10,
    "season": "04-01..07-31",
    "period": {"first_day": "2008-04-01", "last_day": "2008-07-31"},
    "ahead": {"first_day": "2008-04-21", "last_day": "2008-07-31"},
    "exceeded_percent": [10, 30, 50, 70, 90],
    "area": {"name": "synthetic", "km2": 900.0},
    "calibrated": {
        "depth": [21.64, 14.92, 11.37, 8.92, 6.71],
        "volume": [19.476, 13.428, 10.233, 8.028, 6.039],
        "percent_of_normal": [183.4, 126.4, 96.36, 75.59, 56.86],
        "ahead_depth": [19.43, 12.71, 9.16, 6.71, 4.5],
        "ahead_volume": [17.487, 11.439, 8.244, 6.039, 4.05],
    },
    "calibration": FORECAST["calibration"] | {"last_observed": 0.0778},
    "raw": {
        "depth": [17.33, 13.61, 11.08, 9.75, 8.14],
        "volume": [15.597, 12.249, 9.972, 8.775, 7.326],
        "percent_of_normal": [146.9, 115.3, 93.9, 82.63, 68.98],
        "ahead_depth": [15.12, 11.4, 8.87, 7.54, 5.93],
        "ahead_volume": [13.608, 10.26, 7.983, 6.786, 5.337],
    },
    "observed": {
        "period": {"first_day": "2008-04-01", "last_day": "2008-04-20"},
        "days": 20,
        "missing_days": 0,
        "depth": 2.21,
        "volume": 1.989,
    },
    "normal": {
        "mean_depth": 11.8,
        "median_depth": 10.9,
        "mean_volume": 10.62,
        "median_volume": 9.81,
        "years": 10,
        "first_year": 1998,
        "last_year": 2007,
    },
    "missing": {},
}
