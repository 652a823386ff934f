"""Imports weather forecasts and fits bridges."""
