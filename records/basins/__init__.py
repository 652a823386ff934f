"""Stored basins: places, areas, attributes, quality reports."""
