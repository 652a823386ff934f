"""Stages of long work, reported to an observer."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TypeVar

QUIET_SECONDS = 2.0
"""Stages that take less time are not reported."""

Show = Callable[[str, int, int], None]
"""Receives the name of a stage, the number of pieces done and the total."""
Piece = TypeVar("Piece")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Watch:
    show: Show
    started: float


_watch: ContextVar[_Watch | None] = ContextVar("watch", default=None)


@contextmanager
def report_progress_to(show: Show) -> Iterator[None]:
    """Report the stages of the enclosed work to `show`."""
    token = _watch.set(_Watch(show, time.monotonic()))
    try:
        yield
    finally:
        _watch.reset(token)


def with_progress(name: str, pieces: Iterable[Piece], total: int | None = None) -> Iterator[Piece]:
    """Yield a stage's pieces, `total` in number; report once the whole work has taken some seconds."""
    watch = _watch.get()
    if watch is None:
        yield from pieces
        return
    if total is None:
        assert isinstance(pieces, Collection)
        total = len(pieces)
    shown = False
    for done, piece in enumerate(pieces):
        if shown or time.monotonic() - watch.started > QUIET_SECONDS:
            watch.show(name, done, total)
            shown = True
        yield piece
    if shown or time.monotonic() - watch.started > QUIET_SECONDS:
        watch.show(name, total, total)


def single(name: str, work: Callable[[], Result]) -> Result:
    (result,) = (work() for _ in with_progress(name, [work]))
    return result
