"""Runs: what was computed when, by which model version, and what came of it."""
