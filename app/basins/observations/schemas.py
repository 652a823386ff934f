"""Answers about observations."""

from datetime import date, datetime

from pydantic import ConfigDict, Field

from app.basins.observations.example import OBSERVATIONS
from app.basins.schemas import Kind
from app.forecasts.schemas import Area
from app.http.base_schema import DataCredit, Missing, Model, column


class Extent(Model):
    """The first and the last day that is kept of a series."""

    first_day: date
    last_day: date


class Observations(Model):
    """Daily series of a product in a basin, a column each."""

    model_config = ConfigDict(json_schema_extra={"examples": [OBSERVATIONS]})

    basin: str
    basin_kind: Kind = Field(description="`synthetic`: made by computation, no real river.")
    product: str = Field(description="Where the series come from.")
    credit: DataCredit | None = Field(description="Whose the product is; null where no feed brought any of it.")
    units: dict[str, str] = Field(description="The unit of each variable's values.")
    area: Area | None = Field(description="The drainage area that discharge was converted with; null where none was.")
    known_at: datetime | None = Field(description="The instant at which this was known; null for what is known now.")
    kept: dict[str, Extent] = Field(description="All that is (or was) known of each variable, of which this is a part.")
    time: list[date] = Field(description="Every day from the first to the last that was asked for.")
    values: dict[str, list[float | None]] = Field(
        description=column("By variable, null where there is no value, which `flags` explain")
    )
    flags: dict[str, list[int]] = Field(
        description=column("By variable, the sum of the bits in `flag_legend` that hold")
    )
    flag_legend: dict[str, str] = Field(description="What each bit of a flag says.")
    missing: Missing
