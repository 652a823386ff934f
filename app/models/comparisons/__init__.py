"""Comparisons: model versions beside each other, and beside what others have published."""
