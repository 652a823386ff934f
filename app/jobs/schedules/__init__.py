"""Schedules: jobs posted at regular times."""
