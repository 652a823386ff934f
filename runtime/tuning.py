"""Memory, garbage collection and threads of a process that computes."""

import ctypes
import gc
import os
import sys

from setproctitle import getproctitle

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # of malloc.h
HELD_BYTES = 128 << 20
"""Free bytes at the end of the heap that are held at most."""
LARGEST_BYTES = 32 << 20
"""Larger blocks are mapped by themselves, and returned when they are freed; glibc takes no higher limit."""


def hold_freed_memory() -> None:
    """Let this process reuse the memory that it frees; nothing where the C library is not glibc.

    By default glibc returns large blocks to the system at once, and each new one is cleared and mapped page by page.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, LARGEST_BYTES)
        mallopt(_M_TRIM_THRESHOLD, HELD_BYTES)


OBJECTS_BETWEEN_COLLECTIONS = 20_000
"""Loading torch creates some 100 000 objects: at Python's default of 700, garbage collection takes a sixth of the
time."""


def collect_seldom() -> None:
    """Look for garbage less often than by default."""
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)


_LIBRARIES = ("OMP", "MKL", "OPENBLAS", "BLIS")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""The environment of a computing process; the libraries read it when they are loaded."""


def use_one_thread() -> None:
    """Limit numpy and torch to one thread, also in child processes.

    Matrix products are small here. Split over threads, each product waits for the slowest of them, and on a machine
    with other work that wait is longer than the product. Processes and blocks of basins use the cores
    (`models.cores`). Numpy must not be loaded yet; torch may be.
    """
    getproctitle()  # it looks for the command line in memory and cannot find it once the environment has moved
    os.environ |= ONE_THREAD
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
