"""Settings of Open-Meteo's services."""

from runtime.settings import EnvironmentSettings, ServiceKey, ServiceUrl


class OpenMeteoServices(EnvironmentSettings):
    """Where the services are.

    Attributes:
        open_meteo_archive_url: address of Open-Meteo's past weather; a paid plan has hosts of its own.
        open_meteo_forecast_url: address of its weather forecasts.
        open_meteo_ensemble_url: address of its ensembles.
        open_meteo_runs_url: address of its past forecasts, run by run.
        open_meteo_key: the key of a paid plan; without one the free limits apply. Never shown.
    """

    open_meteo_archive_url: ServiceUrl = "https://archive-api.open-meteo.com"
    open_meteo_forecast_url: ServiceUrl = "https://api.open-meteo.com"
    open_meteo_ensemble_url: ServiceUrl = "https://ensemble-api.open-meteo.com"
    open_meteo_runs_url: ServiceUrl = "https://single-runs-api.open-meteo.com"
    open_meteo_key: ServiceKey = None
