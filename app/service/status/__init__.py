"""Status of the service: age of forecasts and inputs, and degradations."""
