"""One thread per process for numpy and torch.

Their products are small here. Shared among threads, each product waits for the slowest of them, and on a machine with
other work that wait is longer than the product. Cores are used by processes and by blocks of basins (`models.cores`).
"""

import os
import sys

from setproctitle import getproctitle

_LIBRARIES = ("OMP", "MKL", "OPENBLAS", "BLIS")
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in _LIBRARIES} | {"VECLIB_MAXIMUM_THREADS": "1"}
"""The environment of a process that computes; the libraries read it when they are loaded."""


def use_one_thread() -> None:
    """Make numpy and torch compute on one thread, in this process and those it starts.

    Numpy must not be loaded yet; torch may be.
    """
    getproctitle()  # looks for the command line in memory, and does not find it once the environment has moved
    os.environ |= ONE_THREAD
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
