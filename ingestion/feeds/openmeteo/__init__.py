"""Open-Meteo: reanalyses, forecasts and ensembles, as daily values of named models."""

from ingestion.feeds.openmeteo.archive import OpenMeteoArchive
from ingestion.feeds.openmeteo.forecast import OpenMeteoForecast

__all__ = ["OpenMeteoArchive", "OpenMeteoForecast"]
