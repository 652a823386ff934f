"""Open-Meteo: reanalyses, forecasts, past forecasts and ensembles, as daily values of named models."""

from ingestion.feeds.openmeteo.archive import OpenMeteoArchive
from ingestion.feeds.openmeteo.forecast import OpenMeteoForecast
from ingestion.feeds.openmeteo.past_runs import OpenMeteoPastRuns

__all__ = ["OpenMeteoArchive", "OpenMeteoForecast", "OpenMeteoPastRuns"]
