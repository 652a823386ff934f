"""Answers about water in a basin."""

from datetime import date

from pydantic import ConfigDict, Field

from app.forecasts.schemas import Column, RunOfBasin, WaterBalance
from app.schema import Missing, Model, column
from app.skill.schemas import SnowSkill
from app.water.example import BALANCE, STORAGE


class NormalWater(Model):
    """How much water there was on the same days of other years, and the run beside it."""

    water: list[float] = Field(
        description=column(
            "The mean over the other years of what the model version simulates with the weather that came, mm"
        )
    )
    percent_of_normal: list[float | None] = Field(description=column("The water of the run in % of it"))


class StorageOfRun(RunOfBasin):
    """Water in the basin on the days ahead, mm, the mean of the members."""

    model_config = ConfigDict(json_schema_extra={"examples": [STORAGE]})

    units: dict[str, str] = Field(description="The unit of each field with values.")
    time: list[date] = Field(description="The valid days.")
    lead_days: list[int] = Field(description=column("Days since T0"))
    total: Column | None = Field(description=column("All water in the model's store at the end of the day, mm"))
    snow: Column | None = Field(description=column("The part in the cells that read as snow, mm"))
    other: Column | None = Field(description=column("The rest, mm"))
    normal_total: NormalWater | None = Field(
        description="Of `total`. It is the model version's own: what a model stores too much of is on both sides."
    )
    normal_snow: NormalWater | None = Field(description="Of `snow`.")
    snow_skill: list[SnowSkill] = Field(
        description="How well those cells follow reference snow, as the model version was last evaluated."
    )
    missing: Missing


class BalanceOfRun(RunOfBasin):
    """The water balance of the days ahead, mm."""

    model_config = ConfigDict(json_schema_extra={"examples": [BALANCE]})

    units: dict[str, str] = Field(description="The unit of each field with values.")
    first_day: date = Field(description="The first day that it is of: the one after T0.")
    last_day: date
    water_balance: WaterBalance | None
    residuals: dict[str, float] = Field(
        default={},
        description="The residual of every member with every trace of weather, mm, as `MEMBER/TRACE`. Only where there "
        "are traces.",
    )
    missing: Missing
