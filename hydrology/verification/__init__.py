"""Verification of probabilistic forecasts by lead time."""
