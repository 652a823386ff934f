"""What made a run's calibrated quantiles of a basin, kept as JSON with it: it outlives the next fit."""

from dataclasses import dataclass

from records.database.json_columns import CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCalibration:
    """The error model that was used, and the last observed flow that it started from.

    Attributes:
        sha256: of the error model.
        weather: what drove the flow that it was fitted to: `observed`, or a weather forecast's source and model.
        fitted_on: the days that it was fitted on at most, `FIRST..LAST`.
        own_days: how many observed days of the basin it rests on; 0 where it has the numbers of all basins.
        last_flow_day: the day of the last observed flow; None where none of the last days was observed.
        last_flow_mm: that flow, mm/day.
    """

    __pydantic_config__ = CLOSED

    sha256: str
    weather: str
    fitted_on: str
    own_days: int
    last_flow_day: str | None
    last_flow_mm: float | None
