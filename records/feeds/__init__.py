"""Stored feeds and the credits of their products."""
