"""Garbage collection in processes that load torch."""

import gc

OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""Loading torch creates some 100 000 objects: at Python's default of 700, garbage collection takes a sixth of the
time."""


def collect_seldom() -> None:
    """Look for garbage less often than by default."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
