"""Answers about exceedance probabilities."""

from typing import Literal

from pydantic import Field

from app.forecasts.schemas import DaysOfRun
from app.http.base_schema import Missing, Model, column
from hydrology.uncertainty.exceedance import Direction

FlowOf = Literal["calibrated", "members"]


class LevelChances(Model):
    """Exceedance probability of one level."""

    name: str | None = Field(
        description="The level's name in `/v1/basins/{basin}/thresholds`; null for a requested discharge."
    )
    discharge: float | None = Field(description="In `units`; null where the record is too short to estimate it.")
    direction: Direction = Field(description="Whether flow passes it upwards (`rising`) or downwards.")
    flow: FlowOf = Field(
        description="The flow behind the chance. `calibrated`: the error model's. `members`: the share of the "
        "members, with every trace of weather, uncalibrated; the levels of the version's own simulation (`model-...`) "
        "are compared with these."
    )
    chance: list[float] | None = Field(
        description=column(
            "Chance that the day's mean flow is beyond the level, 0 to 1. Beyond the outer quantiles of calibrated "
            "flow, 0.5 and 99.5 percent, nothing is known, so a calibrated chance is at least 0.005 and at most 0.995"
        )
    )
    within: float | None = Field(
        description="Chance that the level is passed on any of the days: the share of equally likely, temporally "
        "consistent paths of flow that pass it."
    )
    in_words: str | None = Field(description="The same in a sentence.")
    reason: str | None = Field(description="Why the chances are null; null where they are not.")


class ExceedanceOfRun(DaysOfRun):
    """Exceedance probabilities of levels on the days ahead."""

    levels: list[LevelChances] = Field(
        description="The levels set by operators, the basin's floods and low flows, and those of the version's own "
        "simulation; or the requested discharge."
    )
    missing: Missing
