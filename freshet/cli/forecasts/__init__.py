"""Commands about forecasts and runs."""
