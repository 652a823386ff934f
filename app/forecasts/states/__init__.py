"""Stored model states of a basin."""
