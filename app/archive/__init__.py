"""The archive of forecasts, read as files."""
