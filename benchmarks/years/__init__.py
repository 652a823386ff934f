"""Freshet after ten years: a store as daily operation leaves it, its size, and what is asked of it."""
