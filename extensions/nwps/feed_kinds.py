"""The feed of official flood categories."""

from typing import ClassVar, Literal

from jobspec.feeds import FeedSettings


class CategoriesSettings(FeedSettings):
    """Official flood categories and impacts of USGS gauges, from NOAA's National Water Prediction Service."""

    namespace = "USGS"
    brings = "table"
    usual: ClassVar = {"categories": {}}

    adapter: Literal["categories"]
