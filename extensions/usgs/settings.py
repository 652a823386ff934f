"""Settings of USGS's service."""

from runtime.settings import EnvironmentSettings, ServiceKey, ServiceUrl


class UsgsService(EnvironmentSettings):
    """Where the service is.

    Attributes:
        usgs_url: address of USGS's Water Data OGC API, with its version (`…/v0` or `…/v1`).
        usgs_ratings_url: address of its catalogue of rating tables (STAC), with its version.
        usgs_key: the key for it; without one its hourly limit is lower. Never shown.
    """

    usgs_url: ServiceUrl = "https://api.waterdata.usgs.gov/ogcapi/v0"
    usgs_ratings_url: ServiceUrl = "https://api.waterdata.usgs.gov/stac/v0"
    usgs_key: ServiceKey = None
