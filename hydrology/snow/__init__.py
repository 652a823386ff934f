"""Snow from cells, Snow-17, regional snow."""
