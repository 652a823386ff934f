"""The context of all work: settings, database, clock, progress and cores."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Self, TypeVar

import numpy as np

from records.database.engine import Database
from runtime.clock import Clock
from runtime.settings import Settings

Piece = TypeVar("Piece")
Progress = Callable[[int, int, str], None]
"""Receives the number of pieces done, the total, and a detail. An exception that it raises stops the work."""


def _silent(_done: int, _total: int, _detail: str) -> None:
    pass


def worthwhile_processes(basins: int, size: int) -> int:
    """Return how many processes basins are worth, in parts up to a size: the start of one costs half a part's work."""
    return 2 * basins // size


@dataclass(frozen=True, slots=True)
class Work:
    """The context of a piece of work, on up to `cores` processes."""

    settings: Settings
    database: Database
    clock: Clock
    progress: Progress = _silent
    cores: int = 1

    @classmethod
    @cache
    def opened(cls, settings: Settings, clock: Clock) -> Self:
        """Return the context of a process that does several pieces of work, opened once."""
        return cls(settings, Database.of(settings), clock)

    def show(self, done: int, total: int, detail: str = "") -> None:
        self.progress(done, total, detail)

    def stage(self, name: str) -> Self:
        """Return the context of a stage, whose progress is reported under its name."""
        return replace(self, progress=partial(self._show_stage, name))

    def _show_stage(self, name: str, done: int, total: int, detail: str) -> None:
        self.progress(done, total, f"{name}: {detail}" if detail else name)

    def piece(self, done: int, total: int, name: str) -> Self:
        """Return the context of a piece of the work, whose own progress is the detail of the whole's; and report it."""
        self.show(done, total, name)
        return replace(self, progress=partial(self._show_piece, done, total, name))

    def _show_piece(self, done: int, total: int, name: str, part: int, parts: int, detail: str) -> None:
        self.progress(done, total, f"{name}, {part} of {parts} {detail}")

    def counted(self, name: str, pieces: Iterable[Piece], total: int) -> Iterator[Piece]:
        """Yield pieces, and report how many of them are done."""
        for done, piece in enumerate(pieces, start=1):
            yield piece
            self.show(done, total, name)

    def parts(self, names: Sequence[str], size: int | None) -> list[list[str]]:
        """Divide basins into parts of nearly equal size, as many for each core, unless a process's start costs more.

        No part has more basins than the size; None for one part.
        """
        count = 1
        if size is not None:
            at_once = max(1, min(self.cores, worthwhile_processes(len(names), size)))
            count = min(at_once * math.ceil(len(names) / (size * at_once)), len(names)) or 1
        return [[str(name) for name in part] for part in np.array_split(names, count)]

    @property
    def quiet(self) -> Self:
        """The context of a part of the work that reports no progress."""
        return replace(self, progress=_silent)
