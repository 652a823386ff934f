"""Observations: the stored daily series of a basin."""
