"""Answers about normals."""

from datetime import date
from typing import Literal

from pydantic import ConfigDict, Field

from app.basins.normals.example import NORMALS
from app.basins.schemas import Kind
from app.forecasts.schemas import Area
from app.http.base_schema import DataCredit, Missing, Model, Period, column

GappyColumn = list[float | None]


class DayNormals(Model):
    """What is normal of one variable on each day; null on a day with too few years."""

    kind: Literal["observed", "simulated"] = Field(
        description="`observed`: of a product's series. `simulated`: of what the current model version simulates with "
        "the weather that came, the mean of its members."
    )
    source: str = Field(description="The product or the model version.")
    units: str
    record: Period = Field(description="The first and the last day that is known of it.")
    mean: GappyColumn = Field(description=column("The mean over the other years: what is meant by normal"))
    p10: GappyColumn = Field(description=column("A tenth of the other years' days are at or below"))
    p25: GappyColumn = Field(description=column("A quarter of them"))
    median: GappyColumn = Field(description=column("Half of them"))
    p75: GappyColumn = Field(description=column("Three quarters of them"))
    p90: GappyColumn = Field(description=column("Nine tenths of them"))
    years: list[int] = Field(description=column("How many other years count"))


class Normals(Model):
    """What is usual for the days asked about, a variable after the other."""

    model_config = ConfigDict(json_schema_extra={"examples": [NORMALS]})

    basin: str
    basin_kind: Kind = Field(description="`synthetic`: made by computation, no real river.")
    product: str | None = Field(description="The product of the weather.")
    credits: dict[str, DataCredit] = Field(description="Whose the products are, where a feed brought some of them.")
    area: Area | None = Field(description="The drainage area that discharge was converted with; null where none was.")
    near_days: int = Field(description="So many days before and after the same day of other years are its window.")
    least_years: int = Field(description="With fewer other years there is no normal.")
    time: list[date] = Field(description="Every day from the first to the last that was asked for.")
    variables: dict[str, DayNormals | None] = Field(
        description="By variable: `discharge` of the gauge, the series of the weather product, all water in the basin "
        "(`storage`) and the part that reads as snow (`snow`)."
    )
    missing: Missing
