"""Commands about basins and their data."""
