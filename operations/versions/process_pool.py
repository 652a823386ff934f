"""Pieces of work side by side: a process and one thread each, which is how several cores serve a training best."""

import ctypes
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from typing import Any

from hydrology.base.errors import DataProblem
from operations.versions.hardware import available_memory, memory_in_use
from runtime.one_thread import use_one_thread
from runtime.parent_process import end_with_parent
from runtime.python_processes import spawn_context

SECONDS_BETWEEN_LOOKS = 0.2

OnProgress = Callable[[Any], None]
"""Takes how far a piece of work is. What it raises is to end the piece."""

Work = Callable[[int, OnProgress], None]
"""Does the piece of a number. A process gets it as pickle: a function of a module, or a `partial` of one."""


class _StoppedError(Exception):
    """Ends a piece of work because another one failed or all were interrupted."""


def processes_for(pieces: int, cores: int) -> int:
    """Return how many pieces are worked at at once: one a core, as far as they fit into memory.

    Each is expected to need what this process, which has the same libraries and data loaded, has needed.
    """
    room = available_memory()
    fitting = pieces if room is None else room // memory_in_use()
    return max(1, min(pieces, cores, fitting))


def side_by_side(work: Work, pieces: Sequence[int], processes: int, on_progress: Callable[[int, Any], None]) -> None:
    """Do all pieces of some work in so many processes.

    Args:
        on_progress: gets a piece and how far it is; what it raises ends them all.

    Raises:
        DataProblem: a process was killed.
        Exception: what the first piece that failed raised; the others were ended.
    """
    context = spawn_context()  # a fork would copy the locks of torch's threads, held or not
    desk = _WorkerContext(work, context.SimpleQueue(), context.RawValue(ctypes.c_bool, False))
    with ProcessPoolExecutor(processes, context, _begin, (desk,)) as pool:
        try:
            _watch({pool.submit(_do, piece) for piece in pieces}, desk.progress, on_progress)
        except BrokenProcessPool:
            raise DataProblem(
                "A process was killed, perhaps by the system for want of memory. What it had finished is kept: the "
                "same command goes on from there, and FRESHET_THREADS=1 does one piece at a time."
            ) from None
        finally:
            desk.stopping.value = True
            pool.shutdown(cancel_futures=True)


def _watch(
    pending: set[Future[None]], progress: "SimpleQueue[tuple[int, Any]]", on_progress: Callable[[int, Any], None]
) -> None:
    while pending:
        done, pending = wait(pending, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
        while not progress.empty():
            on_progress(*progress.get())
        for piece in done:
            piece.result()


@dataclass(frozen=True, slots=True)
class _WorkerContext:
    """What every process works with."""

    work: Work
    progress: "SimpleQueue[tuple[int, Any]]"
    stopping: ctypes.c_bool  # without a lock, which a process that is killed would hold for ever


_desk: _WorkerContext


def _begin(desk: _WorkerContext) -> None:
    """Prepare a process."""
    global _desk  # noqa: PLW0603 - a pool gives its processes nothing else to keep it in
    _desk = desk
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process hears it, and ends the others in order
    use_one_thread()


def _do(piece: int) -> None:
    def report(progress: Any) -> None:
        _desk.progress.put((piece, progress))
        if _desk.stopping.value:
            raise _StoppedError

    _desk.work(piece, report)
