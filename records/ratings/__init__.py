"""Rating tables of basins: stored with their source, datum and validity."""
