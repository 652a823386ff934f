"""Settings of the National Water Prediction Service."""

from runtime.settings import EnvironmentSettings, ServiceUrl


class NwpsService(EnvironmentSettings):
    """Where the service is.

    Attributes:
        nwps_url: address of the API of NOAA's National Water Prediction Service, with its version.
    """

    nwps_url: ServiceUrl = "https://api.water.noaa.gov/nwps/v1"
