"""/: today's overview: a map of the basins, and their list, most urgent first."""
