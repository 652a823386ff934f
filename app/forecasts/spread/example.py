"""The answer that the documentation shows."""

from typing import Any

from app.forecasts.example import FORECAST
from app.forecasts.water.example import OF_THE_RUN

SPREAD: dict[str, Any] = OF_THE_RUN | {
    "units": {"standard_deviation": "mm/day"},
    "time": FORECAST["time"],
    "lead_days": FORECAST["lead_days"],
    "standard_deviation": [0.007122402, 0.007913208, 0.009146112],
    "shares": {
        "weights": [0.5127301, 0.3840107, 0.2518824],
        "weather": [0.1204112, 0.3331927, 0.5610271],
        "state": [0.3668587, 0.2827966, 0.1870905],
    },
    "missing": {},
}
