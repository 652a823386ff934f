"""Answers about normals."""

from datetime import date
from typing import Literal

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Area, DataCredit, Missing, Model, Period, column

GappyColumn = list[float | None]


class DayNormals(Model):
    """Normals of one variable for each day; null on a day with too few years."""

    kind: Literal["observed", "simulated"] = Field(
        description="`observed`: from a product's series. `simulated`: by the current model version, driven by "
        "observed weather, mean of its members."
    )
    source: str = Field(description="The product or the model version.")
    units: str
    record: Period = Field(description="The first and the last known day.")
    mean: GappyColumn = Field(description=column("Mean over the other years, the normal"))
    p10: GappyColumn = Field(description=column("10 % quantile of the other years"))
    p25: GappyColumn = Field(description=column("25 % quantile of the other years"))
    median: GappyColumn = Field(description=column("Median of the other years"))
    p75: GappyColumn = Field(description=column("75 % quantile of the other years"))
    p90: GappyColumn = Field(description=column("90 % quantile of the other years"))
    years: list[int] = Field(description=column("Number of other years"))


class Normals(Model):
    """Normals for the requested days, by variable."""

    basin: str
    basin_kind: BasinKind
    product: str | None = Field(description="The weather product.")
    credits: dict[str, DataCredit] = Field(description="Providers of the products that came through feeds.")
    area: Area | None = Field(description="The drainage area used to convert discharge; null where none was.")
    near_days: int = Field(description="Half width of the window: days before and after the same day of other years.")
    least_years: int = Field(description="Minimum number of other years for a normal.")
    time: list[date] = Field(description="Every day of the requested period.")
    variables: dict[str, DayNormals | None] = Field(
        description="By variable: `discharge` of the gauge, the series of the weather product, all water in the basin "
        "(`storage`) and the part read as snow (`snow`)."
    )
    missing: Missing
