"""Fetches observations and weather from feeds."""
