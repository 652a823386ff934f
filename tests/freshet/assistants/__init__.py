"""Tools for assistants."""
