"""Answers about recession without further rain."""

from datetime import date

from pydantic import Field

from app.forecasts.schemas import Columns, DaysOfRun
from app.http.base_schema import Missing, Model, column


class AmountOfWater(Model):
    """An amount of water, mm."""

    mean: float = Field(description="The mean of the members.")
    p05: float = Field(description="Their 5 % quantile. Quantiles do not add up.")
    p95: float = Field(description="Their 95 % quantile.")


class DrainedBy(Model):
    """Fate of the water stored at T0, by the end of a day."""

    day: date
    days: int = Field(description="Days since T0.")
    runs_off: AmountOfWater = Field(
        description="Water that has run off. With `lost` and `left`, its mean is the `ceiling`."
    )
    runs_off_volume: float | None = Field(description="Its mean in million m³.")
    lost: AmountOfWater = Field(description="Water lost other than through the river.")
    left: AmountOfWater = Field(description="Water still stored.")


class LowFlow(Model):
    """The first day with flow below a level."""

    name: str = Field(
        description="The level's name in `/v1/basins/{basin}/thresholds`. `model-...` comes from the version's own "
        "simulation and shares its bias; a model with too little water passes a level of the record too soon."
    )
    discharge: float | None = Field(description="In the unit of `discharge`; null where the record is too short.")
    day: date | None = Field(description="The first day by which flow has fallen below it in half of the members.")
    p05: date | None = Field(description="The same for 5 % of the members.")
    p95: date | None = Field(description="The same for 95 % of the members.")
    days: int | None = Field(description="Days from T0 to `day`.")
    in_words: str | None = Field(description="The same in a sentence.")
    reason: str | None = Field(description="Why any of them is null; null where none is.")


class DrainDownOfRun(DaysOfRun):
    """Recession of a basin without further rain."""

    discharge: Columns | None = Field(description=column("The quantiles of the members, by name, not calibrated"))
    ceiling: float | None = Field(
        description="All water stored at T0, mm, mean of the members: the upper limit of runoff, if none of it were "
        "lost."
    )
    runs_off: list[float] | None = Field(description=column("Water that has run off since T0, mm, mean of the members"))
    lost: list[float] | None = Field(
        description=column("Water lost other than through the river since T0, mm, mean of the members")
    )
    left: list[float] | None = Field(description=column("Water still stored, mm, mean of the members"))
    totals: list[DrainedBy] | None = Field(
        description="The same after 10, 30, 90 and 180 days, as far as the run reaches, and at its end."
    )
    low_flows: list[LowFlow] | None = Field(
        description="For each low level: those set by operators, those of the basin's record, "
        "and those of the version's own simulation."
    )
    in_words: str | None = Field(description="The fate of the water, in a sentence.")
    missing: Missing
