"""Stored daily series, their sources and revisions."""
