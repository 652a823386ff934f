"""Levels of a basin's discharge: those of its record, and those that operators set."""
