"""Feeds: which services are asked, and what came of it."""
