"""Rating tables of basins, and stages by them."""
