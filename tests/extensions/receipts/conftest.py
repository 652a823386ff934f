"""The country and its version, of the tests of operations."""

from tests.operations.conftest import _one_thread, trained_file, trained_store

__all__ = ["_one_thread", "trained_file", "trained_store"]
