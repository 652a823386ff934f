"""Snow from network cells, Snow-17 and regional snow."""
