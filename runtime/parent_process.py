"""What binds a process to the one that started it, and what that says of its end."""

import ctypes
import signal
import sys


def end_with_parent(how: signal.Signals = signal.SIGKILL) -> None:
    """Let this process get a signal when its parent dies, however that dies (Linux). It outlives an exec.

    SIGKILL alone ends a process that is stopped or hangs, too.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, how)  # 1: PR_SET_PDEATHSIG


def ended_in_words(code: int) -> str:
    """Say how a process with an exit code ended: `was killed by SIGSEGV (Segmentation fault)`."""
    if code >= 0:
        return f"ended by itself with exit code {code}"
    return f"was killed by {signal.Signals(-code).name} ({signal.strsignal(-code)})"
