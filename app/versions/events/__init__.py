"""Observed and simulated events of a basin, with their scores."""
