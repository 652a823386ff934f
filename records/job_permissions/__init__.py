"""Permissions of jobs, by the key that posted them."""
