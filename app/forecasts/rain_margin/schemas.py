"""Answers about rain margins."""

from datetime import date
from typing import Literal

from pydantic import Field

from app.forecasts.schemas import RunOfBasin, Units
from app.http.base_schema import Missing, Model
from hydrology.extremes.rain_margin import RAIN_MM, MarginStatus

MarginFlow = Literal["corrected", "simulated"]


class WindowMargin(Model):
    """The rain in one window that takes flow to a level, mm. The highest flow is looked for until `response_days` after
    the window."""

    first_day: date = Field(description="The first day of the rain.")
    days: int = Field(description="Number of days over which it falls.")
    status: MarginStatus = Field(
        description="By the median: `needs-rain`; `already-above`, where flow is above the level without rain; "
        f"`not-reached`, where {RAIN_MM[-1]:g} mm do not suffice."
    )
    median: float | None = Field(description="The rain that suffices in half of the members; 0 where none is needed.")
    p05: float | None = Field(description="The rain that suffices in 5 % of them.")
    p95: float | None = Field(description="The rain that suffices in 95 % of them.")
    reason: str | None = Field(description="Why any of them is null; null where none is.")


class LevelMargin(Model):
    """The rain that takes flow to one level."""

    name: str | None = Field(
        description="The level's name in `/v1/basins/{basin}/thresholds`; null for a requested discharge."
    )
    discharge: float | None = Field(description="In `units`; null where the record is too short to estimate it.")
    flow: MarginFlow = Field(
        description="What is compared with the level: `corrected`, the members' flow moved by the error model from the "
        "last observed flow; `simulated`, the members' flow as it is: for levels of the version's own simulation, or "
        "without an error model."
    )
    windows: list[WindowMargin] | None = Field(
        description="Margins by the window's length and first day, as far as the run's days reach."
    )
    in_words: str | None = Field(description="The shortest and the longest window from the first day, in a sentence.")
    reason: str | None = Field(description="Why the others are null; null where they are not.")


class RainMarginOfRun(RunOfBasin):
    """The rain that takes flow to each level, from the water in the basin at T0."""

    units: Units
    response_days: int = Field(description="Days after a window until which the highest flow is looked for.")
    levels: list[LevelMargin] | None = Field(
        description="The rising levels set by operators, the basin's floods, and those of the version's own "
        "simulation; or the requested discharge."
    )
    not_monotone: float | None = Field(
        description="Share of the members' responses in which flow falls although more rain fell, 0 to 1: a fault of "
        "the networks. A margin is then the smallest rain that suffices."
    )
    missing: Missing
