"""Progress on standard error: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from freshet.cli.output import inform, messages
from operations.versions.stages import report_progress_to

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_STAGES = 2.0


class Reporter:
    """Shows the progress of several pieces of work."""

    def __init__(self, bar: Progress | None) -> None:
        self._bar = bar
        self._tasks: dict[str, TaskID] = {}
        self._last_line = float("-inf")
        self._shown = ""
        self._named: set[str] = set()

    def show(self, what: str, done: int, total: int, detail: str = "") -> None:
        if self._bar is not None:
            task = self._tasks.get(what)
            if task is None:
                task = self._tasks[what] = self._bar.add_task(what, total=total, detail=detail)
            self._bar.update(task, completed=done, total=total, detail=detail)
            return
        line = f"{what}: {done} of {total}{f', {detail}' if detail else ''}"
        if line != self._shown and self._is_due(what, done == total):
            self._last_line, self._shown = time.monotonic(), line
            self._named.add(what)
            inform(line)

    def _is_due(self, what: str, ends: bool) -> bool:
        """Return whether to print a line: always at the end of work already shown, else at intervals."""
        if what in self._named:
            return ends or time.monotonic() - self._last_line >= SECONDS_BETWEEN_LINES
        return time.monotonic() - self._last_line >= SECONDS_BETWEEN_STAGES


@contextmanager
def reporting() -> Iterator[Reporter]:
    """Show progress while the work goes on, that of its stages (`operations.versions.stages`) too."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}  {task.fields[detail]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=messages) if messages.is_terminal else nullcontext() as bar:
        reporter = Reporter(bar)
        with report_progress_to(reporter.show):
            yield reporter
