"""Which workers of this machine have died.

Each worker holds a lock on a file of its own in the data folder. The kernel lets go of it however the worker dies, so
that its job need not wait for the end of its lease.
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
    """Return where the workers of a data folder hold their files."""
    return data / "workers"


def new_name() -> str:
    """Return a name of this process that none had before: containers give the same ids again."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


@contextmanager
def hold(data: Path) -> Iterator[str]:
    """Be present as a worker, under a new name."""
    name = new_name()
    path = folder(data) / name
    private_files.make_folder(path.parent)
    with ExitStack() as files:
        while True:
            file = files.enter_context(open(path, "a", opener=private_files.opener))
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists():  # else a scheduler saw it before it was locked, and removed it
                break
        file.write(_kernel())
        file.flush()
        try:
            yield name
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def dead_workers(data: Path) -> Iterator[list[str]]:
    """Give the names of the workers that have died on this machine. Without an error they are forgotten afterwards."""
    with ExitStack() as locks:
        free = [path for path in folder(data).glob("*") if _is_free(path, locks)]
        # Where the data folder is another machine's too, and its file system keeps no locks, all of them look free.
        yield [path.name for path in free if path.read_text() == _kernel()]
        for path in free:
            path.unlink(missing_ok=True)


def _is_free(path: Path, locks: ExitStack) -> bool:
    """Whether nobody holds a file; then it is held here."""
    try:
        file = locks.enter_context(path.open())
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        return False
    return True


def _kernel() -> str:
    """Return what tells a machine, from its start to its end, from all others."""
    return Path("/proc/sys/kernel/random/boot_id").read_text()
