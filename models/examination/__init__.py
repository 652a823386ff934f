"""Questions from physics to trained members, asked from outside: paired runs on the weather of real basins."""
