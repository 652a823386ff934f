"""Basins: their metadata and stored data."""
