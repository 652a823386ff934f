"""Open-Meteo: reanalyses, forecasts, past forecasts and ensembles, as daily values of named models."""
