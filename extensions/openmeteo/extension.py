"""What the services of Open-Meteo add to the core."""

from jobspec.extensions import Extension

EXTENSION = Extension(
    package=__package__,
    feed_kinds={
        "feed_kinds:OpenMeteoArchiveSettings": "feeds:archive_feed",
        "feed_kinds:OpenMeteoForecastSettings": "feeds:forecast_feed",
        "feed_kinds:OpenMeteoEnsembleSettings": "feeds:ensemble_feed",
    },
    past_forecasts={"feed_kinds:OpenMeteoForecastSettings": "feeds:past_forecasts"},
    settings="settings:OpenMeteoServices",
)
