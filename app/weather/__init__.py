"""Weather forecasts, feeds and bridges."""
