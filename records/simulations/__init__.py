"""What was derived from simulations of the past: thresholds, storage, snow cells."""
