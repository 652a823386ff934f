"""Normals, volumes, and weather and flow of other years."""
