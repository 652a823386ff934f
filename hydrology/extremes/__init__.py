"""Flood and low-flow frequency, thresholds, alert rules."""
