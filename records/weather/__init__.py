"""Stored weather forecasts, feeds and bridges."""
