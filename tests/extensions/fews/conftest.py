"""The trained store that tests of the adapter share."""

from tests.operations.conftest import _one_thread, trained_file, trained_store

__all__ = ["_one_thread", "trained_file", "trained_store"]
