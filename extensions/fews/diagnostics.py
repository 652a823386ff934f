"""The diagnostics that Delft-FEWS reads after a run."""

from enum import IntEnum
from pathlib import Path

from extensions.fews.markup import add, new, written
from hydrology.base.errors import printable
from runtime.stored_files import replace_file


class LogLevel(IntEnum):
    """Severity of a line."""

    FATAL = 0  # nothing was written
    ERROR = 1  # a location has no flow
    WARNING = 2
    INFO = 3


class Diagnostics:
    """The lines of a run."""

    def __init__(self, path: Path) -> None:
        self._path, self._root = path, new("Diag", "1.2")

    def add(self, level: LogLevel, sentence: str) -> None:
        """Add a line."""
        add(self._root, "line", level=str(int(level)), description=printable(sentence))

    def write(self) -> None:
        """Write the lines so far."""
        replace_file(self._path, written(self._root))
