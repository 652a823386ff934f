"""Outlooks of basins: each number of a basin's present state and forecast, once."""
