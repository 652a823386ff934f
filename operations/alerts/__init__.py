"""Decides alerts and delivers their changes."""
