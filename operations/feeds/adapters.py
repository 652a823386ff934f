"""Opens the feed that settings describe."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from hydrology.base.errors import InvalidInput
from ingestion.feeds.base import Feed
from ingestion.feeds.daymet import DaymetFeed
from ingestion.feeds.files import FilesFeed
from ingestion.feeds.http import Service
from ingestion.feeds.openmeteo import OpenMeteoArchive, OpenMeteoForecast, OpenMeteoPastRuns
from ingestion.feeds.points import OverPoints
from ingestion.feeds.usgs import UsgsFeed
from jobspec.feeds import (
    AnyFeedSettings,
    DaymetSettings,
    FilesSettings,
    OpenMeteoArchiveSettings,
    OpenMeteoEnsembleSettings,
    OpenMeteoForecastSettings,
    UsgsSettings,
)
from operations.basin_data.source_paths import Intake
from runtime.settings import Settings

Notify = Callable[[str], None]


def past_runs(
    shown: AnyFeedSettings, settings: Settings, report: Notify, pause: Callable[[float], None]
) -> OpenMeteoPastRuns:
    """Return the past forecasts of a feed's model; refuse a feed whose service has none."""
    if not isinstance(shown, OpenMeteoForecastSettings):
        raise InvalidInput(
            f"A feed of the adapter {shown.adapter} has no past issues to fetch: name one of open-meteo-forecast, or "
            "import a folder of past forecasts (freshet weather add FOLDER)."
        )
    service = _open_meteo(settings, settings.open_meteo_runs_url, pause)
    return OpenMeteoPastRuns(service, shown.model, report)


def _open_meteo(settings: Settings, url: str, pause: Callable[[float], None]) -> Service:
    return Service(url, settings.open_meteo_key, "FRESHET_OPEN_METEO_KEY", settings.ingest_hosts, pause)


def usgs(settings: Settings, pause: Callable[[float], None]) -> Service:
    """Return USGS's Water Data OGC API; `pause` waits seconds between two attempts."""
    return Service(settings.usgs_url, settings.usgs_key, "FRESHET_USGS_KEY", settings.ingest_hosts, pause)


@contextmanager
def opened(
    shown: AnyFeedSettings, settings: Settings, intake: Intake, report: Notify, pause: Callable[[float], None]
) -> Iterator[Feed]:
    """Return the feed of the given settings; notices come before the work they concern."""

    def service(url: str) -> Service:
        return Service(url, None, None, settings.ingest_hosts, pause)

    def open_meteo(url: str) -> Service:
        return _open_meteo(settings, url, pause)

    match shown:
        case UsgsSettings():
            yield UsgsFeed(usgs(settings, pause), shown.series)
        case OpenMeteoArchiveSettings():
            yield OverPoints(OpenMeteoArchive(open_meteo(settings.open_meteo_archive_url), shown.model, report))
        case OpenMeteoForecastSettings():
            host = open_meteo(settings.open_meteo_forecast_url)
            forecast = OpenMeteoForecast(
                host, "/v1/forecast", shown.model, shown.days_ahead, report=report, behind=shown.days_behind
            )
            yield OverPoints(forecast)
        case OpenMeteoEnsembleSettings():
            host = open_meteo(settings.open_meteo_ensemble_url)
            yield OverPoints(
                OpenMeteoForecast(host, "/v1/ensemble", shown.model, shown.days_ahead, shown.members, report)
            )
        case DaymetSettings():
            yield OverPoints(DaymetFeed(service(settings.daymet_url)))
        case FilesSettings():
            with intake.of(shown.from_) as (paths, files):
                yield FilesFeed(paths, shown.product, files)
