"""What binds a process to the one that started it."""

import ctypes
import signal
import sys


def end_with_parent(how: signal.Signals = signal.SIGTERM) -> None:
    """Let this process get a signal when its parent dies, however that dies (Linux). It outlives an exec."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, how)  # 1: PR_SET_PDEATHSIG
