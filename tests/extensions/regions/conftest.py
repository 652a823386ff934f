"""The command line with an empty database."""

from tests.freshet.conftest import empty

__all__ = ["empty"]
