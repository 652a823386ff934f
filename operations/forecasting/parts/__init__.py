"""Forecasts of a version that combines others: what its parts computed, as one forecast."""
