"""Results of simulations of the past: thresholds, storage, snow cells."""
