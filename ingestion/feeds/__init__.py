"""Feeds: services that give what was observed lately, and weather forecasts. One provider a file, one protocol."""
