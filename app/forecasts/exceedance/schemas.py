"""Answers about exceedance probabilities."""

from datetime import date
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
        description="The flow behind the chance. `calibrated`: the error model's, as a forecaster adjusted "
        "it. `members`: the share of the "
        "members, by their weights and with every trace of weather, uncalibrated; the levels of the version's own "
        "simulation (`model-...`) are compared with these."
    )
    chance: list[float | None] | None = Field(
        description=column(
            "Chance that the day's mean flow is beyond the level, 0 to 1. Beyond the outer quantiles of calibrated "
            "flow, 0.5 and 99.5 percent, nothing is known, so a calibrated chance is at least 0.005 and at most "
            "0.995. Null on days that a forecaster's adjustment moves no flow to"
        )
    )
    within: float | None = Field(
        description="Chance that the level is passed on any of the days: the share of equally likely, temporally "
        "consistent paths of flow that pass it; or as a forecaster set it."
    )
    in_words: str | None = Field(description="The same in a sentence.")
    reason: str | None = Field(description="Why the chances are null; null where they are not.")


class PeakOfRun(Model):
    """The highest day ahead, over equally likely paths of the published calibrated flow: its height and its day."""

    p05: float = Field(description="Height exceeded with a chance of 95 %, in `units`.")
    median: float = Field(description="Median height, in `units`.")
    p95: float = Field(description="Height exceeded with a chance of 5 %, in `units`.")
    day_p05: date = Field(description="The peak is earlier than this day with a chance of 5 % at most.")
    day_median: date = Field(description="The median day of the peak.")
    day_p95: date = Field(description="The peak is later than this day with a chance of 5 % at most.")


class ExceedanceOfRun(DaysOfRun):
    """Exceedance probabilities of levels on the days ahead."""

    levels: list[LevelChances] = Field(
        description="The levels set by operators, the basin's floods and low flows, and those of the version's own "
        "simulation; or the requested discharge."
    )
    peak: PeakOfRun | None = Field(
        description="The highest day ahead, with its uncertainty in height and time. Null where flow more likely falls "
        "from the last past day than rises."
    )
    missing: Missing
