"""Weather forecasts: which were issued, and what they hold."""
