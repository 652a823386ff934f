"""Weather on grids."""
