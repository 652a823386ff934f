"""The latest forecasts, recessions and seasonal volumes, read from stored runs."""
