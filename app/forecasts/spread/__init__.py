"""Spread of a forecast's discharge, and its sources."""
