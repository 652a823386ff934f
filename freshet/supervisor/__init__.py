"""Starts, watches and restarts the parts of the service."""
