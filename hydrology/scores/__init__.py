"""Scores of simulations and tests between them."""
