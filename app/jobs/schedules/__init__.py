"""Schedules: which job is posted when."""
