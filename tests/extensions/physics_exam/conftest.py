"""The country and its version, of the tests of operations."""

from tests.operations.conftest import country, trained_file, trained_store

__all__ = ["country", "trained_file", "trained_store"]
