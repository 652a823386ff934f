"""Answers about the spread of a forecast."""

from datetime import date

from pydantic import ConfigDict, Field

from app.forecasts.schemas import RunOfBasin
from app.forecasts.spread.example import SPREAD
from app.http.base_schema import Missing, Model, column


class SpreadShares(Model):
    """What makes the variance of the discharge, as shares of it; a share of no variance is null."""

    weights: list[float | None] = Field(description=column("The network's weights: its members differ"))
    weather: list[float | None] = Field(description=column("The weather after T0: its traces differ"))
    state: list[float | None] = Field(
        description=column("The water in the basin at T0: how much fell in it before is not known exactly")
    )


class SpreadOfRun(RunOfBasin):
    """How far the members' discharge lies apart on each day ahead, and what makes it."""

    model_config = ConfigDict(json_schema_extra={"examples": [SPREAD]})

    units: dict[str, str] = Field(description="The unit of each field with values.")
    time: list[date] = Field(description="The valid days.")
    lead_days: list[int] = Field(description=column("Days since T0"))
    standard_deviation: list[float] | None = Field(
        description=column(
            "Of the discharge of every member with every trace of weather from every perturbed state, mm/day. What the "
            "network gets wrong with all of them is not in it: calibrated quantiles hold that too"
        )
    )
    shares: SpreadShares | None = Field(description="Of its square, the variance; they add up to 1.")
    missing: Missing
