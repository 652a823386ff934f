"""Forecasts: results of runs, by basin."""
