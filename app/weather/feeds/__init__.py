"""Feeds: sources of discharge and weather, and the outcome of their fetches."""
