"""Stored forecast runs and the states that they start from."""
