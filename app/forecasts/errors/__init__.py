"""Errors of verified forecasts, split by cause."""
