"""Binds a process to its parent, and describes how a child ended."""

import ctypes
import signal
import sys


def end_with_parent(how: signal.Signals = signal.SIGKILL) -> None:
    """Send this process a signal when its parent dies, however it dies (Linux).

    The setting survives an exec.

    SIGKILL alone ends a process that is stopped or hangs, too.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, how)  # 1: PR_SET_PDEATHSIG


def ended_in_words(code: int) -> str:
    """Describe the end of a process by its exit code: `was killed by SIGSEGV (Segmentation fault)`."""
    if code >= 0:
        return f"ended by itself with exit code {code}"
    return f"was killed by {signal.Signals(-code).name} ({signal.strsignal(-code)})"
