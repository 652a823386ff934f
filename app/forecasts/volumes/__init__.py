"""Seasonal volumes."""
