"""Physical experiments with trained members. Paired runs on the weather of real basins."""
