"""Permissions of jobs, and pruning."""
