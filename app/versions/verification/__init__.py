"""Verification of a model version's forecasts, by lead time."""
