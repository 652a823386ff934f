"""Stored scores, comparisons and published results."""
