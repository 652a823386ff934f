"""Requests to store a rating table."""

from pydantic import ConfigDict, Field

from hydrology.ratings.files import MAX_CHARACTERS
from jobspec.fields import DayField, Line, RequestModel

_EXAMPLE = "stage_ft,discharge_cfs\n2.0,12\n4.0,160\n9.0,1500\n"


class NewRating(RequestModel):
    """A rating table of a basin's gauge."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"table": _EXAMPLE, "source": "river office, rating 12", "datum": "NAVD88, 231.40 ft"}]
        }
    )

    table: str = Field(
        min_length=1,
        max_length=MAX_CHARACTERS,
        description="The file as it is: RDB of the USGS (type `exsa` or `base`), or CSV with the columns `stage_ft` or "
        "`stage_m`, and `discharge_cfs` or `discharge_m3_per_s`.",
    )
    source: Line = Field(description="Where the table is from.", examples=["waterdata.usgs.gov"])
    datum: Line | None = Field(None, description="What the gauge's zero refers to.")
    valid_from: DayField | None = Field(None, description="The first day that it holds for; by default today.")
