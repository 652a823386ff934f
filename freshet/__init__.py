"""Freshet's own face: the command line."""
