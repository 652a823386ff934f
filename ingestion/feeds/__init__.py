"""Feeds: services of recent observations and weather forecasts. One file per provider, one protocol."""
