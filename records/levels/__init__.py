"""Levels of basins: those that operators set, official flood categories, and those of records."""
