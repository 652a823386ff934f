"""Each line of a module counts once, as what it is."""

from benchmarks.code_size import line_kinds

SOURCE = '''"""A module."""

import math

LIMIT = 3
"""Described."""


@decorated
def first(
    value: float,
) -> float:
    """Return it."""
    # why
    return math.floor(value)  # as is


class Record:
    name: str
    """Its name."""
'''


def test_each_line_counts_once() -> None:
    kinds = line_kinds(SOURCE)
    assert kinds.total() == len(SOURCE.splitlines())
    expected = {"docstring": 4, "import": 1, "field": 2, "signature": 5, "comment": 1, "logic": 1, "blank": 6}
    assert dict(kinds) == expected
