"""Feeds of weather on grids: files in a folder or at a URL."""

from typing import Literal

from pydantic import Field

from jobspec.feeds import MAX_DAYS_BACK, DaysBack, FeedSettings, Product
from jobspec.fields import Place, form

_FROM = Field(
    alias="from",
    min_length=1,
    max_length=100,
    description="Files, Zarr stores and folders of them on the service's machine, within the folders that jobs may "
    "read; or URLs of files (NetCDF, GRIB2) at public addresses.",
    examples=[["/srv/grids"]],
)


class GridSettings(FeedSettings):
    """Observed weather on a grid: NetCDF, Zarr or GRIB2."""

    reads_all = True

    adapter: Literal["grid"]
    from_: list[Place] = _FROM
    product: Product = Field(examples=["own_grid"])
    days_back: DaysBack = MAX_DAYS_BACK


class GridForecastSettings(FeedSettings):
    """Weather forecasts on a grid, with their members: the newest run in NetCDF, Zarr or GRIB2."""

    brings = "forecast"
    reads_all = True

    adapter: Literal["grid-forecast"]
    from_: list[Place] = _FROM
    model: str = Field(
        pattern=form("^[0-9A-Za-z_.-]{1,64}$", "1 to 64 letters, digits or _ . -, such as gefs"),
        description="The name that the model's weather forecasts are stored under.",
        examples=["gefs"],
    )
