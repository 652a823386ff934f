"""Forecasters' adjustments of issued forecasts, and alerts that wait for them."""
