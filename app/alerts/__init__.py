"""Alerts: how the levels of basins stand, and what changed."""
