"""Opens the feeds of Open-Meteo's weather, each averaged over the points of a basin."""

from extensions.openmeteo.archive import OpenMeteoArchive
from extensions.openmeteo.feed_kinds import (
    OpenMeteoArchiveSettings,
    OpenMeteoEnsembleSettings,
    OpenMeteoForecastSettings,
)
from extensions.openmeteo.forecast import OpenMeteoForecast
from extensions.openmeteo.past_runs import OpenMeteoPastRuns
from extensions.openmeteo.settings import OpenMeteoServices
from ingestion.feeds.http import FeedAccess, Service
from ingestion.feeds.points import OverPoints


def archive_feed(settings: OpenMeteoArchiveSettings, access: FeedAccess) -> OverPoints:
    """Open a feed of past weather."""
    return OverPoints(OpenMeteoArchive(_service(access, "archive"), settings.model, access.report))


def forecast_feed(settings: OpenMeteoForecastSettings, access: FeedAccess) -> OverPoints:
    """Open a feed of weather forecasts of one trace."""
    service, model, days = _service(access, "forecast"), settings.model, settings.days_ahead
    return OverPoints(
        OpenMeteoForecast(service, "/v1/forecast", model, days, report=access.report, behind=settings.days_behind)
    )


def ensemble_feed(settings: OpenMeteoEnsembleSettings, access: FeedAccess) -> OverPoints:
    """Open a feed of weather forecasts of an ensemble."""
    service, model, days = _service(access, "ensemble"), settings.model, settings.days_ahead
    return OverPoints(OpenMeteoForecast(service, "/v1/ensemble", model, days, settings.members, access.report))


def past_forecasts(settings: OpenMeteoForecastSettings, access: FeedAccess) -> OpenMeteoPastRuns:
    """Open the past forecasts of a feed's model."""
    return OpenMeteoPastRuns(_service(access, "runs"), settings.model, access.report)


def _service(access: FeedAccess, name: str) -> Service:
    settings = OpenMeteoServices.load()
    url = getattr(settings, f"open_meteo_{name}_url")
    return access.service(url, settings.open_meteo_key, "FRESHET_OPEN_METEO_KEY")
