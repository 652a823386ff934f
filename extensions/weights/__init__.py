"""Weights of versions that are to be combined."""
