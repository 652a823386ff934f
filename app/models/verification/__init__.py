"""Verification: how true the forecasts of a model version were, lead by lead."""
