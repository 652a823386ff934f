"""Answers of the API as text: lists of objects and series of days as tables, and the reasons of what is null."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import RenderableType

from freshet.cli.output import first_rows, inform, table

Columns = dict[str, str]
"""Of a table, by heading: the path of the shown field, such as `observed.peak`."""


def listing(items: Sequence[Any], columns: Columns, title: str) -> RenderableType:
    """Return objects as a table: a row each."""
    rows = [tuple(value_at(item, path) for path in columns.values()) for item in items]
    return first_rows(tuple(columns), rows, title)


def series(answer: Any, columns: Columns, title: str) -> RenderableType:
    """Return columns of an answer as a table, without those that are null: a row for each day of its `time`."""
    known = {"day": "time"} | {name: path for name, path in columns.items() if value_at(answer, path) is not None}
    return table(tuple(known), [*zip(*(value_at(answer, path) for path in known.values()), strict=True)], title)


def facts(answer: Any, columns: Columns, title: str) -> RenderableType:
    """Return fields of an answer as a table: a row each."""
    return table(("", ""), [(name, value_at(answer, path)) for name, path in columns.items()], title)


def inform_missing(answer: Any, columns: Iterable[str]) -> None:
    """Print why shown fields are null, each reason once."""
    paths: dict[str, str] = {}
    for path, reason in answer.missing.items():
        if path in columns:
            paths.setdefault(reason, path)
    for reason, path in paths.items():
        inform(f"{path} is not known. {reason}")


def value_at(item: Any, path: str) -> Any:
    """Return the field at a path, None where one on the way is null."""
    for name in path.split("."):
        if item is not None:
            item = item.get(name) if isinstance(item, Mapping) else getattr(item, name)
    return item
