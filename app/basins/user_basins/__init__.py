"""Own basins: registering them, and sending their observations."""
