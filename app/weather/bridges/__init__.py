"""Bridges: corrections from one weather product to another, and their skill."""
