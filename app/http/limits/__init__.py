"""Limits on requests: rates, sizes, connections, by address and key."""
