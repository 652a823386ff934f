"""Synthetic basins with known true water."""
