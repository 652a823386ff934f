"""Detects workers of this machine that have died.

Each worker locks its own file in the data folder. The kernel releases the lock however the worker dies, so that its
job need not wait for the end of its lease.
"""

import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from runtime import private_files


def folder(data: Path) -> Path:
    """Return the folder of the workers' files in a data folder."""
    return data / "workers"


def new_name() -> str:
    """Return a name that no earlier process had: containers reuse process ids."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


@contextmanager
def hold(data: Path) -> Iterator[str]:
    """Hold a worker's lock, under a new name."""
    name = new_name()
    path = folder(data) / name
    private_files.make_folder(path.parent)
    with ExitStack() as files:
        while True:
            file = files.enter_context(open(path, "a", opener=private_files.opener))
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists():  # otherwise a scheduler saw it before it was locked, and removed it
                break
        file.write(_kernel())
        file.flush()
        try:
            yield name
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def dead_workers(data: Path) -> Iterator[list[str]]:
    """Yield the names of workers that died on this machine. Forget them afterwards unless there was an error."""
    with ExitStack() as locks:
        free = [path for path in folder(data).glob("*") if _is_free(path, locks)]
        # If machines share the data folder and its file system has no locks, all files look free.
        yield [path.name for path in free if path.read_text() == _kernel()]
        for path in free:
            path.unlink(missing_ok=True)


def _is_free(path: Path, locks: ExitStack) -> bool:
    """Return whether nobody holds a file; if so, hold it here."""
    try:
        file = locks.enter_context(path.open())
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        return False
    return True


def _kernel() -> str:
    """Return the identifier of this boot of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text()
