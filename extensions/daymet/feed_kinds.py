"""The feed of Daymet's weather."""

from typing import Literal

from pydantic import Field

from jobspec.feeds import DaysBack, FeedSettings, Product


class DaymetSettings(FeedSettings):
    """Past weather at gauges, from single pixels of Daymet; published a year or more later."""

    adapter: Literal["daymet"]
    product: Product = Field(examples=["daymet_pixel"])
    days_back: DaysBack = 366
