"""Counts what a block asks of the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Engine, event


@contextmanager
def counted_statements() -> Iterator[list[str]]:
    """Give a list that gets every statement that a database of this process executes during the block."""
    statements: list[str] = []

    def note(*given: Any) -> None:
        statements.append(given[2])

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield statements
    finally:
        event.remove(Engine, "before_cursor_execute", note)
