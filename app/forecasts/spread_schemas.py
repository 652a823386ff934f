"""Answers about the spread of discharge."""

from typing import Annotated

from pydantic import Field

from app.exports.series import Series
from app.forecasts.schemas import DaysOfRun
from app.http.base_schema import Missing, Model, column


class SpreadShares(Model):
    """Shares of the variance of discharge by source; null where the variance is 0."""

    weights: list[float | None] = Field(description=column("The network's weights: its members differ"))
    weather: list[float | None] = Field(description=column("The weather after T0: its traces differ"))
    state: list[float | None] = Field(
        description=column("The water in the basin at T0: past precipitation is uncertain")
    )


class SpreadOfRun(DaysOfRun):
    """Spread of the members' discharge on each day ahead, and its sources."""

    standard_deviation: Annotated[list[float] | None, Series("of the discharge")] = Field(
        description=column(
            "Standard deviation of discharge over all members, weather traces and perturbed states, mm/day. Errors "
            "common to all of them are not included; calibrated quantiles include those too"
        )
    )
    shares: Annotated[SpreadShares | None, Series("share of the variance due to the {}", "1", column="share_of_{}")] = (
        Field(description="Shares of the variance; they add up to 1.")
    )
    missing: Missing
