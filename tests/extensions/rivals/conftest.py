"""The small country of the operations, with its trained version."""

from tests.operations.conftest import _one_thread, country, trained_file

__all__ = ["_one_thread", "country", "trained_file"]
