"""Plots of a forecast: observed flow, median and prediction intervals."""
