"""Stored jobs: their rows, events, schedules and heartbeats."""
