"""Writes stored runs to archives that others read."""
