"""Answers about simulations."""

from datetime import date, datetime

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Area, Missing, OfBasin, Period, column
from app.versions.scores.schemas import SCORED, USE
from hydrology.base.units import Units
from hydrology.verification.held_out_years import PeriodUse


class Simulation(OfBasin):
    """Simulated and observed flow of a basin, from which its scores are computed."""

    basin_kind: BasinKind
    version: str = Field(description="The model version.")
    scored: str = Field(description=SCORED)
    period: Period = Field(description="The days of the evaluation.")
    period_use: PeriodUse = Field(description=USE)
    evaluated_at: datetime
    units: Units = Field(description="The unit of both series.")
    area: Area | None = Field(description="The drainage area used to convert them; null in mm/day.")
    time: list[date] = Field(description="The requested days of the period, by default all.")
    simulated: list[float] = Field(description=column("The mean of the members, driven by observed weather"))
    observed: list[float | None] = Field(
        description=column("The observation that the scores compare it with, null where there is none")
    )
    missing: Missing
