"""Simulated and observed flow behind the scores of a model version."""
