"""Output of commands: one JSON object or a table for people on standard output, all else on standard error."""

import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from freshet.cli.options import flag
from hydrology.base.absent import Absent
from hydrology.base.errors import DataProblem, Problem

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from app.http.base_schema import Model

PARTLY_DONE = 6

MAX_ROWS = 40
"""Rows of a long table that are printed; with --json all are."""

Json = Annotated[bool, flag("--json", "Print one JSON object instead of text.")]

WIDE = 200  # columns, where the answer goes to a file or a pipe and not to a terminal

_answers = Console(width=None if sys.stdout.isatty() else WIDE)
messages = Console(stderr=True, soft_wrap=True)


def answer(payload: "Model | Mapping[str, Any]", as_json: bool, text: Any) -> None:
    """Print the answer of a command: the payload as JSON, or the text (a string or a rich table)."""
    if as_json:
        fields = payload if isinstance(payload, Mapping) else payload.model_dump(mode="json", exclude_unset=True)
        typer.echo(json.dumps(fields, default=_plain, indent=2, allow_nan=False))
    else:
        _answers.print(text, highlight=False, markup=False)


def exit_if_failed(failed: int, total: int) -> None:
    """Exit with the code for some or all of a number of basins failed, if any did."""
    if failed:
        raise typer.Exit(PARTLY_DONE if failed < total else DataProblem.exit_code)


def inform(text: str) -> None:
    """Print a sentence that is not the answer."""
    messages.print(text, highlight=False, markup=False)


def inform_left_out(left_out: Iterable[object]) -> None:
    """Print why parts of the work were left out."""
    for reason in left_out:
        inform(f"Left out: {reason}")


def table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str | None = None) -> RenderableType:
    """Return a table; None is shown as a dash, floats with three digits."""
    drawn = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        drawn.add_column(column, overflow="fold")
    for row in rows:
        drawn.add_row(*(_cell(value) for value in row))
    return drawn if title is None else Group(Text(title), drawn)


def first_rows(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str) -> RenderableType:
    """Return a table of the first `MAX_ROWS` rows; its title states where there are more."""
    if len(rows) > MAX_ROWS:
        title += f"; the first {MAX_ROWS} of them (--json lists all)"
    return table(columns, rows[:MAX_ROWS], title)


def problem_json(problem: Problem) -> dict[str, Any]:
    """Return a problem as its JSON object."""
    return {"problem": {"kind": problem.kind, "detail": str(problem)}}


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return "-" if isnan(value) else f"{value:.3f}"
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d %H:%M:%SZ")
    return str(value)


def _plain(value: object) -> object:
    import numpy as np  # here, for help and messages need none of it

    if isinstance(value, datetime):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, np.datetime64 | Absent):
        return str(value)
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | set):
        return list(value)
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")


Columns = str
"""Of a table, with | between: the path of the shown field, such as `observed.peak`, after its heading and a colon where
that is not the last name of the path."""


def _paths(columns: Columns) -> dict[str, str]:
    """Return the path of each column by its heading."""
    pairs = (column.rpartition(": ") for column in columns.split(" | "))
    return {heading or path.rpartition(".")[2].replace("_", " "): path for heading, _, path in pairs}


def listing(items: Sequence[Any], columns: Columns, title: str, *, whole: bool = False) -> RenderableType:
    """Return objects as a table: a row each; `whole` shows more than `MAX_ROWS`, too."""
    paths = _paths(columns)
    rows = [tuple(value_at(item, path) for path in paths.values()) for item in items]
    return (table if whole else first_rows)(tuple(paths), rows, title)


def series(answer: Any, columns: Columns, title: str) -> RenderableType:
    """Return columns of an answer as a table, without those that are null: a row for each day of its `time`."""
    paths = _paths(f"day: time | {columns}").items()
    known = {name: path for name, path in paths if value_at(answer, path) is not None}
    return table(tuple(known), [*zip(*(value_at(answer, path) for path in known.values()), strict=True)], title)


def facts(answer: Any, columns: Columns, title: str) -> RenderableType:
    """Return fields of an answer as a table: a row each."""
    return table(("", ""), [(name, value_at(answer, path)) for name, path in _paths(columns).items()], title)


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


SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_STAGES = 2.0
SECONDS_OF_SPEED = 600.0
"""The last part of the work, whose speed gives the time left."""


class Reporter:
    """Shows the progress of several pieces of work and the time left: as bars, or where nobody looks on as lines."""

    def __init__(self, bar: "Progress") -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}
        self._last_line = float("-inf")
        self._shown = ""
        self._named: set[str] = set()

    def show(self, what: str, done: int, total: int, detail: str = "") -> None:
        task = self._tasks.get(what)
        if task is None:
            task = self._tasks[what] = self._bar.add_task(what, total=total, detail=detail)
        self._bar.update(task, completed=done, total=total, detail=detail)
        if not self._bar.disable:
            return
        line = f"{what}: {done} of {total}{f', {detail}' if detail else ''}"
        if line != self._shown and self._is_due(what, done == total):
            self._last_line, self._shown = time.monotonic(), line
            self._named.add(what)
            inform(f"{line}{self._time_left(task)}")

    def _time_left(self, task: "TaskID") -> str:
        """Return the end of a line on unfinished work; empty until its speed is known."""
        (left,) = (one.time_remaining for one in self._bar.tasks if one.id == task)
        return f", {timedelta(seconds=round(left))} left" if left else ""

    def _is_due(self, what: str, ends: bool) -> bool:
        """Return whether to print a line: always at the end of work already shown, else at intervals."""
        if what in self._named:
            return ends or time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES
        return time.monotonic() - self._last_line >= SECONDS_BETWEEN_STAGES


@contextmanager
def reporting() -> Iterator[Reporter]:
    """Show progress while the work goes on."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}  {task.fields[detail]}"),
        TimeRemainingColumn(),
    )
    lines = not messages.is_terminal
    with Progress(*columns, console=messages, disable=lines, speed_estimate_period=SECONDS_OF_SPEED) as bar:
        yield Reporter(bar)
