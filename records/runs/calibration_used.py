"""The origin of a run's calibrated quantiles of a basin, stored as JSON with it: it outlives the next fit."""

from dataclasses import dataclass

from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCalibration:
    """The error model that was used, and the last observed flow it started from.

    Attributes:
        sha256: checksum of the error model.
        weather: the weather that drove the fitted flow: `observed`, or a weather forecast's source and model.
        fitted_on: the days within which it was fitted, `FIRST..LAST`.
        own_days: number of the basin's observed days in the fit; 0 if it uses the regional parameters.
        last_flow_day: the day of the last observed flow; None if none of the last days was observed.
        last_flow_mm: that flow, mm/day.
    """

    __pydantic_config__ = CLOSED

    sha256: str
    weather: str
    fitted_on: str
    own_days: int
    last_flow_day: str | None
    last_flow_mm: float | None
