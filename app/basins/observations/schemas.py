"""Answers about observations."""

from datetime import date, datetime

from pydantic import Field

from app.basins.schemas import BasinKind
from app.http.base_schema import Area, DataCredit, Missing, Model, column


class Extent(Model):
    """The first and the last stored day of a series."""

    first_day: date
    last_day: date


class Observations(Model):
    """Daily series of a product in a basin, a column each."""

    basin: str
    basin_kind: BasinKind
    product: str = Field(description="The source of the series.")
    credit: DataCredit | None = Field(description="Provider of the product; null where no feed brought any of it.")
    units: dict[str, str] = Field(description="The unit of each variable's values.")
    area: Area | None = Field(description="The drainage area used to convert discharge; null where none was.")
    known_at: datetime | None = Field(description="The answer is as known at this instant; null: as known now.")
    kept: dict[str, Extent] = Field(
        description="First and last stored day of each variable at that time; the answer is a part of it."
    )
    time: list[date] = Field(description="Every day of the requested period.")
    values: dict[str, list[float | None]] = Field(
        description=column("By variable, null where there is no value, which `flags` explain")
    )
    flags: dict[str, list[int]] = Field(
        description=column("By variable, the sum of the bits in `flag_legend` that hold")
    )
    flag_legend: dict[str, str] = Field(description="The meaning of each bit of a flag.")
    missing: Missing
