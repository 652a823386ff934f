"""Physical experiments with trained members: paired runs on the weather of real basins."""
