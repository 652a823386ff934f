"""Middleware and dependencies of every request: limits, keys, caching, problems."""
