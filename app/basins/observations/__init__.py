"""Observations: the daily series that are kept of a basin."""
