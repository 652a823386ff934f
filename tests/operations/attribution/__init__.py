"""Changes and errors of forecasts, split by cause."""
