"""Forecasters' adjustments of issued forecasts."""
