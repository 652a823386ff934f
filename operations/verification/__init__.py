"""Evaluates, calibrates, compares and verifies versions and forecasts."""
