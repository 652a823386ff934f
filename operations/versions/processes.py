"""Runs pieces of work in parallel, each in a process with one thread, which uses several cores best; the hardware."""

import ctypes
import os
import platform
import resource
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

import torch

from hydrology.base.errors import DataProblem
from models.devices import CPU, device_in_use
from models.nets.compiled import loader
from runtime.child_processes import end_with_parent, fork_context, leave_signals_to_parent
from runtime.process import collect_seldom, use_one_thread


def machine() -> str:
    """Describe the number of processors, their model and their vector unit."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    model = models[0] if models else platform.processor() or platform.machine()
    return f"{os.cpu_count()} x {model}, {torch.backends.cpu.get_cpu_capability()}"


def program() -> str:
    """Describe what affects a result's last digits: Torch, GPU or vector unit, MC-LSTM recurrence."""
    device = device_in_use()
    if device != CPU:
        return f"torch {torch.__version__} on {torch.cuda.get_device_name(device)}"
    torch_program = f"torch {torch.__version__} for {torch.backends.cpu.get_cpu_capability()}"
    return f"{torch_program}, recurrence {loader.program()}"


def memory_in_use() -> int:
    """Return the peak memory of this process in bytes."""
    maximum = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return maximum if sys.platform == "darwin" else maximum * 1024


def available_memory() -> int | None:
    """Return bytes for new processes, within the container's limit (Linux); None where unknown."""
    info = Path("/proc/meminfo")
    if not info.exists():
        return None
    fields = dict(line.split(":", 1) for line in info.read_text().splitlines())
    of_machine = int(fields["MemAvailable"].split()[0]) * 1024
    limit, used = (Path("/sys/fs/cgroup") / name for name in ("memory.max", "memory.current"))
    if not limit.exists() or not used.exists() or limit.read_text().strip() == "max":
        return of_machine
    return min(of_machine, int(limit.read_text()) - int(used.read_text()))


SECONDS_BETWEEN_LOOKS = 0.2

OnProgress = Callable[[Any], None]
"""Receives the progress of a piece of work. An exception that it raises stops the piece."""

Piece = Callable[[int, OnProgress], Any]
"""Does a piece of work by its number, and returns its result. It is pickled for a process: a module's function, or a
`partial` of one."""


class _StoppedError(Exception):
    """Stops a piece of work because another one failed or all were interrupted."""


def processes_for(pieces: int, cores: int) -> int:
    """Return the number of pieces to run in parallel: one per core, as far as memory allows.

    On a GPU one, since several would only share it. Each is expected to need as much memory as this process, with the
    same libraries and data loaded, has used.
    """
    if device_in_use() != CPU:
        return 1
    room = available_memory()
    fitting = pieces if room is None else room // memory_in_use()
    return max(1, min(pieces, cores, fitting))


def side_by_side(
    work: Piece, pieces: Sequence[int], processes: int, on_progress: Callable[[int, Any], None], *, loads: str
) -> dict[int, Any]:
    """Run all pieces in a number of processes, and return their results; an exception of `on_progress` stops all.

    Args:
        loads: a module that all pieces need, loaded once for the processes together.
    """
    context = fork_context(loads)  # a fork of this process would copy torch's locks in their current state
    surroundings = {**os.environ}, resource.getrlimit(resource.RLIMIT_DATA)
    desk = _WorkerContext(work, context.SimpleQueue(), context.RawValue(ctypes.c_bool, False), *surroundings)
    with ProcessPoolExecutor(processes, context, _begin, (desk,)) as pool:
        try:
            submitted = {piece: pool.submit(_do, piece) for piece in pieces}
            _watch({*submitted.values()}, desk.progress, on_progress)
            return {piece: one.result() for piece, one in submitted.items()}
        except BrokenProcessPool:
            raise DataProblem(
                "A process was killed, perhaps by the system for want of memory. Its finished work is stored: run the "
                "same command again to resume, and set FRESHET_CORES=1 to run one piece at a time."
            ) from None
        finally:
            desk.stopping.value = True
            pool.shutdown(cancel_futures=True)


def _watch(
    pending: set[Future[Any]], progress: "SimpleQueue[tuple[int, Any]]", on_progress: Callable[[int, Any], None]
) -> None:
    while pending:
        done, pending = wait(pending, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
        while not progress.empty():
            on_progress(*progress.get())
        for piece in done:
            piece.result()


@dataclass(frozen=True, slots=True)
class _WorkerContext:
    work: Piece
    progress: "SimpleQueue[tuple[int, Any]]"
    stopping: ctypes.c_bool  # without a lock: a killed process would hold it forever
    environment: Mapping[str, str]
    memory: tuple[int, int]


_desk: _WorkerContext


def _begin(desk: _WorkerContext) -> None:
    global _desk  # noqa: PLW0603 - a pool's processes have no other place to store it
    _desk = desk
    os.environ.clear()
    os.environ.update(desk.environment)
    resource.setrlimit(resource.RLIMIT_DATA, desk.memory)
    end_with_parent()
    leave_signals_to_parent(signal.SIGINT)
    use_one_thread()
    collect_seldom()


def _do(piece: int) -> Any:
    def report(progress: Any) -> None:
        _desk.progress.put((piece, progress))
        if _desk.stopping.value:
            raise _StoppedError

    return _desk.work(piece, report)
