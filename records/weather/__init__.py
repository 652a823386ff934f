"""Stored weather forecasts and bridges."""
