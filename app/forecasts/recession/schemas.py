"""Answers about what a basin would give if nothing more fell."""

from datetime import date

from pydantic import ConfigDict, Field

from app.forecasts.recession.example import DRAIN_DOWN
from app.forecasts.schemas import Columns, RunOfBasin
from app.http.base_schema import Missing, Model, column


class AmountOfWater(Model):
    """An amount of water, mm."""

    mean: float = Field(description="The mean of the members.")
    p05: float = Field(description="Their 5 % quantile. Quantiles do not add up.")
    p95: float = Field(description="Their 95 % quantile.")


class DrainedBy(Model):
    """What has become, by the end of a day, of the water that the basin held at T0."""

    day: date
    days: int = Field(description="Days since T0.")
    runs_off: AmountOfWater = Field(description="What has run off. With `lost` and `left`, its mean is the `ceiling`.")
    runs_off_volume: float | None = Field(description="Its mean in million m³.")
    lost: AmountOfWater = Field(description="What has left otherwise than through the river.")
    left: AmountOfWater = Field(description="What is still stored.")


class LowFlow(Model):
    """When flow is first below a level."""

    name: str = Field(
        description="As `/v1/basins/{basin}/thresholds` calls it. `model-...` is of the version's own simulation: like "
        "is held against like there, while a model with too little water passes a level of the record too soon."
    )
    discharge: float | None = Field(description="In the unit of `discharge`; null where the record is too short.")
    day: date | None = Field(description="The first day by which flow has been below it in half of the members.")
    p05: date | None = Field(description="The first by which it has in 5 % of them.")
    p95: date | None = Field(description="The first by which it has in 95 % of them.")
    days: int | None = Field(description="Days from T0 to `day`.")
    in_words: str | None = Field(description="The same in a sentence.")
    reason: str | None = Field(description="Why any of them is null; null where none is.")


class DrainDownOfRun(RunOfBasin):
    """What a basin would give if nothing more fell."""

    model_config = ConfigDict(json_schema_extra={"examples": [DRAIN_DOWN]})

    units: dict[str, str] = Field(description="The unit of each field with values.")
    time: list[date] = Field(description="The valid days.")
    lead_days: list[int] = Field(description=column("Days since T0"))
    discharge: Columns | None = Field(
        description=column("The quantiles of the members by their names, which are not calibrated")
    )
    ceiling: float | None = Field(
        description="All water that was stored at T0, mm, the mean of the members: were none of it lost, so much of it "
        "could run off."
    )
    runs_off: list[float] | None = Field(description=column("What has run off since T0, mm, the mean of the members"))
    lost: list[float] | None = Field(
        description=column("What has left otherwise than through the river since T0, mm, the mean of the members")
    )
    left: list[float] | None = Field(description=column("What is still stored, mm, the mean of the members"))
    totals: list[DrainedBy] | None = Field(
        description="The same after 10, 30, 90 and 180 days, as far as the run reaches, and at its end."
    )
    low_flows: list[LowFlow] | None = Field(
        description="Of each level that is passed downwards: those that operators set, those of the basin's record, "
        "and those of the version's own simulation."
    )
    in_words: str | None = Field(description="What would become of the water, in a sentence.")
    missing: Missing
