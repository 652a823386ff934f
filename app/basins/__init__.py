"""Basins: what they are and what is kept of them."""
