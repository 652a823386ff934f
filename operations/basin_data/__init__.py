"""Ingests and registers basins, series and attributes."""
