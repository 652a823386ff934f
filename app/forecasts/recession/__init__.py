"""Recession: runoff of a basin's stored water without further rain."""
