"""Scores of simulations, and tests of their differences."""
