"""The feeds of USGS gauges: discharge, and rating tables."""

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


class RatingsSettings(FeedSettings):
    """Rating tables of USGS gauges, from its catalogue (STAC): stage and discharge, with the shifts of the day."""

    namespace = "USGS"
    brings = "table"
    usual: ClassVar = {"ratings": {}}

    adapter: Literal["ratings"]


class UsgsNowSettings(FeedSettings):
    """The newest measured discharge of USGS gauges, which updates latest forecasts within the day. A schedule fetches
    it every few minutes."""

    namespace = "USGS"
    brings = "flow"

    adapter: Literal["usgs-now"]
    series: ChosenSeries = Field({})
