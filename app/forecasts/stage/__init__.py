"""The latest forecast as stage."""
