"""The spread of a forecast, and its sources."""
