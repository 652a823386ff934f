"""Days, series, units, variables, products, basins."""
