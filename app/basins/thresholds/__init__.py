"""Levels of a basin's discharge: from its record, and set by operators."""
