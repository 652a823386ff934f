"""Normals, volumes and other years' weather and flow."""
