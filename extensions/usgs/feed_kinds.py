"""The feed of discharge of USGS gauges."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from jobspec.feeds import DaysBack, FeedSettings
from jobspec.fields import Basin, Id

ChosenSeries = Annotated[
    dict[Basin, Id],
    Field(
        max_length=1000,
        description="The series to take, by basin, if a gauge has several; series are never merged.",
        examples=[{"USGS-01013500": "aaaabbbbccccddddeeeeffff00001111"}],
    ),
]


class UsgsSettings(FeedSettings):
    """Daily mean discharge of USGS gauges, from the Water Data OGC API."""

    namespace = "USGS"
    usual: ClassVar = {"flow": {}}

    adapter: Literal["usgs"]
    series: ChosenSeries = Field({})
    days_back: DaysBack = 30


class UsgsNowSettings(FeedSettings):
    """The newest measured discharge of USGS gauges, which updates latest forecasts within the day. A schedule fetches
    it every few minutes."""

    fills_record = False
    namespace = "USGS"

    adapter: Literal["usgs-now"]
    series: ChosenSeries = Field({})
