"""Limits numpy and torch to one thread per process.

Matrix products are small here. Split over threads, each product waits for the slowest of them, and on a machine with
other work that wait is longer than the product. Processes and blocks of basins use the cores (`models.cores`).
"""

import os
import sys

from setproctitle import getproctitle

_LIBRARIES = ("OMP", "MKL", "OPENBLAS", "BLIS")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""The environment of a computing process; the libraries read it when they are loaded."""


def use_one_thread() -> None:
    """Limit numpy and torch to one thread, also in child processes.

    Numpy must not be loaded yet; torch may be.
    """
    getproctitle()  # it looks for the command line in memory and cannot find it once the environment has moved
    os.environ |= ONE_THREAD
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
