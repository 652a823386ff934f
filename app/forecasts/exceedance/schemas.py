"""Answers about the chance of passing a level."""

from datetime import date
from typing import Literal

from pydantic import ConfigDict, Field

from app.forecasts.exceedance.example import EXCEEDANCE
from app.forecasts.schemas import RunOfBasin
from app.http.base_schema import Missing, Model, column
from hydrology.uncertainty.exceedance import Direction

FlowOf = Literal["calibrated", "members"]


class LevelChances(Model):
    """The chance of passing one level."""

    name: str | None = Field(description="As `/v1/basins/{basin}/thresholds` calls it; null for a discharge asked for.")
    discharge: float | None = Field(description="In `units`; null where the record is too short to tell it.")
    direction: Direction = Field(description="Whether it is passed upwards (`rising`) or downwards.")
    flow: FlowOf = Field(
        description="Of which flow the chance is. `calibrated`: the error model's. `members`: the share of the "
        "members, with every trace of weather, as they are; the levels of the version's own simulation (`model-...`) "
        "are held against these."
    )
    chance: list[float] | None = Field(
        description=column(
            "That the day's mean flow is beyond it, 0 to 1. Beyond the outer quantiles of calibrated flow, of half a "
            "percent, nothing is known: a chance is at least 0.005 and at most 0.995 there"
        )
    )
    within: float | None = Field(
        description="The chance that it is passed on any of the days: of equally likely courses of flow, whose days "
        "hang together, the share that does."
    )
    in_words: str | None = Field(description="The same in a sentence.")
    reason: str | None = Field(description="Why they are null; null where they are not.")


class ExceedanceOfRun(RunOfBasin):
    """The chance of passing levels on the days ahead."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXCEEDANCE]})

    units: dict[str, str] = Field(description="The unit of each field with values.")
    time: list[date] = Field(description="The valid days.")
    lead_days: list[int] = Field(description=column("Days since T0"))
    levels: list[LevelChances] = Field(
        description="The levels that operators set, the basin's floods and low flows, and those of the version's own "
        "simulation; or the discharge asked for."
    )
    missing: Missing
