"""Annual extremes, the frequency of floods and low flows, and levels."""
