"""Progress on standard error: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from freshet.cli.output import messages, say

SECONDS_BETWEEN_LINES = 10.0


class Reporter:
    """Shows how far several pieces of work are."""

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}
        self._last_line = float("-inf")
        self._said = ""

    def show(self, what: str, done: int, total: int, detail: str = "") -> None:
        """Say that `done` of `total` are done."""
        if self._bar is not None:
            task = self._tasks.get(what)
            if task is None:
                task = self._tasks[what] = self._bar.add_task(what, total=total, detail=detail)
            self._bar.update(task, completed=done, total=total, detail=detail)
            return
        line = f"{what}: {done} of {total}{f', {detail}' if detail else ''}"
        due = done == total or time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES
        if due and line != self._said:
            self._last_line, self._said = time.monotonic(), line
            say(line)


@contextmanager
def reporting() -> Iterator[Reporter]:
    """Show progress while the work goes on."""
    if not messages.is_terminal:
        yield Reporter(None)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}  {task.fields[detail]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=messages) as bar:
        yield Reporter(bar)
