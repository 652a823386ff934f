"""Answers about water in a basin."""

from datetime import date

from pydantic import Field

from app.forecasts.schemas import Column, DaysOfRun, RunOfBasin, SnowRead, Units, WaterBalance
from app.http.base_schema import Missing, Model, Period, column
from app.versions.scores import SnowSkill


class NormalWater(Model):
    """Water on the same days of other years, and the run in percent of it."""

    water: list[float] = Field(
        description=column("Mean over other years of the version's simulation with observed weather, mm")
    )
    percent_of_normal: list[float | None] = Field(description=column("The water of the run in % of it"))


class PastWater(Model):
    """Water in the basin on the days up to T0, mm, the mean of the members."""

    time: list[date] = Field(description="The days, T0 the last.")
    total: list[float | None] = Field(
        description=column("All water in the model's store at the end of the day, mm; null on days without a state")
    )
    snow: list[float | None] | None = Field(
        description=column("The part in the cells that read as snow, mm") + " Null where no cells read as snow."
    )


class StorageOfRun(DaysOfRun):
    """Water in the basin on the days ahead, mm, the mean of the members."""

    at_t0: float | None = Field(
        description="All water in the model's store at the end of T0, before the first day ahead, mm."
    )
    total: Column | None = Field(description=column("All water in the model's store at the end of the day, mm"))
    snow: Column | None = Field(description=column("The part in the cells that read as snow, mm"))
    snow_read: SnowRead | None = Field(description="Origin and spread of `snow`.")
    other: Column | None = Field(description=column("The rest, mm"))
    past: PastWater | None = Field(
        default=None, description="The water of the days up to T0. Only with `past_days`; null where none is known."
    )
    normal_total: NormalWater | None = Field(
        description="Of `total`. It comes from the same model version, so both share its bias."
    )
    normal_snow: NormalWater | None = Field(description="Of `snow`.")
    snow_skill: list[SnowSkill] = Field(
        description="Skill of those cells against reference snow, by the latest evaluation."
    )
    missing: Missing


class FlowOfOrigin(Model):
    """The part of each day's discharge with one origin, mm/day."""

    mean: list[float] = Field(description=column("The mean of the members, and of their traces of weather, mm/day"))
    p05: list[float] = Field(description=column("Their 5 % quantile, mm/day. Quantiles do not add up"))
    p95: list[float] = Field(description=column("Their 95 % quantile, mm/day"))


class OriginOfRun(DaysOfRun):
    """The discharge of the days ahead by where its water was at T0, mm/day."""

    ceiling: float | None = Field(
        description="All water stored at T0, mm, mean of the members: the upper limit of its runoff, if none of it "
        "were lost."
    )
    discharge: list[float] | None = Field(
        description=column(
            "The mean of the members, and of their traces, mm/day; `stored` and `yet_to_fall` add up to it"
        )
    )
    stored: FlowOfOrigin | None = Field(
        description="Water that was in the basin at T0; `snow` and `other` add up to it."
    )
    snow: FlowOfOrigin | None = Field(description="The part of it that was in the cells that read as snow.")
    other: FlowOfOrigin | None = Field(description="The rest of it.")
    yet_to_fall: FlowOfOrigin | None = Field(description="Water that falls after T0, as rain or as snow.")
    missing: Missing


class LossBesidePet(Model):
    """Mean annual loss of the model version over its simulated past, beside potential evapotranspiration. Loss is not
    measured, but evaporation cannot exceed its potential."""

    period: Period = Field(description="The simulated days.")
    mean: float = Field(description="The mean of the members, mm a year.")
    members: dict[str, float] = Field(description="Each member's, mm a year.")
    pet: float | None = Field(
        description="Potential evapotranspiration of the same days from temperature and latitude (Oudin et al. 2005), "
        "mm a year."
    )
    exceeding: list[str] = Field(
        description="The members that lose more: a part of their loss is water that leaves the basin unseen, too much "
        "rain in the weather product, or an error. None where `pet` is not known."
    )


class FlowOfAge(Model):
    """The part of each day's discharge of one age, mm/day."""

    age: str = Field(
        description="`older`; one of five meteorological seasons, named after the year in which they end, the last of "
        "them that of T0; or `yet_to_fall`, after T0.",
        examples=["2008-DJF"],
    )
    first_day: date | None = Field(description="The first day on which it fell; null for `older`.")
    last_day: date | None = Field(description="The last day on which it fell; null for `yet_to_fall`.")
    mean: list[float] = Field(description=column("The mean of the members, and of their traces of weather, mm/day"))
    p05: list[float] = Field(description=column("Their 5 % quantile, mm/day. Quantiles do not add up"))
    p95: list[float] = Field(description=column("Their 95 % quantile, mm/day"))


class AgeOfRun(DaysOfRun):
    """The discharge of the days ahead by the season in which its water fell, mm/day."""

    discharge: list[float] | None = Field(
        description=column("The mean of the members, and of their traces, mm/day; the means of all ages add up to it")
    )
    ages: list[FlowOfAge] | None = Field(description="The parts of it by age, the oldest first.")
    missing: Missing


class BalanceOfRun(RunOfBasin):
    """The water balance of the days ahead, mm."""

    units: Units
    first_day: date = Field(description="The first day of the balance: the day after T0.")
    last_day: date
    water_balance: WaterBalance | None
    residuals: dict[str, float] = Field(
        default={},
        description="The residual of every member with every trace of weather, mm, as `MEMBER/TRACE`. Only where there "
        "are traces.",
    )
    loss_beside_pet: LossBesidePet | None = Field(description="The loss compared with potential evapotranspiration.")
    missing: Missing


class SimulatedWater(Model):
    """Mean annual water of the members, mm/year."""

    precipitation: float
    discharge: float
    loss: float
    stored: float = Field(description="The remainder of the precipitation, in the basin at T0.")


class ObservedRunoff(Model):
    """Observed runoff of the river."""

    runoff: float = Field(
        description="Annual mean of whole water years (at least 355 days observed), mm/year. Where it exceeds the "
        "precipitation, the basin's quality report contains "
        "`runoff-above-precipitation`."
    )
    days: int = Field(description="Number of observed days behind the mean.")


class LongTermBalance(RunOfBasin):
    """Water balance of all days from the empty store to T0."""

    units: Units
    period: Period | None = Field(description="From the first day after the empty store to T0.")
    simulated: SimulatedWater | None
    observed: ObservedRunoff | None
    missing: Missing
