"""Backup, pruning, integrity checks and monitoring of the database."""
