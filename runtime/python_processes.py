"""Starts Python processes that run the installed Freshet, never code of the working folder.

Without `-P` Python searches the working folder for modules first, so a folder `models/` or `records/` in
it would run in place of Freshet's.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.context import SpawnContext, SpawnProcess
from threading import Lock

_SAFE_PATH = "PYTHONSAFEPATH"
_starting = Lock()


def command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module in its own process."""
    return [sys.executable, "-P", "-m", module, *arguments]


def spawn_context() -> SpawnContext:
    """Return the way to spawn processes for functions, which are as safe as `command`."""
    with _safe_path():
        resource_tracker.ensure_running()  # a process of its own, which the first lock or queue would start
    return _SafeContext()


class _SafeProcess(SpawnProcess):
    def start(self) -> None:
        """Start the process."""
        with _safe_path():
            super().start()


class _SafeContext(SpawnContext):
    Process = _SafeProcess


@contextmanager
def _safe_path() -> Iterator[None]:
    """Let processes that are started meanwhile pass by the working folder; one thread at a time is in here.

    `multiprocessing` passes no option to its processes but those of this one, so that it takes the environment.
    """
    with _starting:
        before = os.environ.get(_SAFE_PATH)
        os.environ[_SAFE_PATH] = "1"
        try:
            yield
        finally:
            if before is None:
                del os.environ[_SAFE_PATH]
            else:
                os.environ[_SAFE_PATH] = before
