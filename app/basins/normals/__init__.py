"""Normals: what is usual for a day, by the same time of other years."""
