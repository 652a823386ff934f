"""Runs: when and by which model version they were computed, and their outcome."""
