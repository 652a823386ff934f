"""Normals: the usual values for a day of the year, from other years."""
