"""Forecasts: what a run says of a basin."""
