"""Comparisons of model versions with each other and with published results."""
