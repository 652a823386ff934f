"""Handlers of each kind of job."""
