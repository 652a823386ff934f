"""Synthetic basins with a known truth."""
