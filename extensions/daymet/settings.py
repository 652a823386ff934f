"""Settings of Daymet's service."""

from runtime.settings import EnvironmentSettings, ServiceUrl


class DaymetService(EnvironmentSettings):
    """Where the service is.

    Attributes:
        daymet_url: address of Daymet.
    """

    daymet_url: ServiceUrl = "https://daymet.ornl.gov"
