"""Outlooks of basins: computed from a run's arrays when it is stored, and joined with what depends on the instant."""
