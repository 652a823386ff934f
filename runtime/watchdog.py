"""Heartbeats by systemd's sd_notify: from the service's parts to the supervisor, and from it to systemd.

NOTIFY_SOCKET names the address to send them to, and WATCHDOG_USEC the microseconds without one after which the process
counts as hung. If these are not set, nothing is sent.
"""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LIVES, READY, STOPPING = "WATCHDOG=1", "READY=1", "STOPPING=1"


def notify(sign: str) -> None:
    """Send a notification without waiting for its receipt."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):  # no watcher listens
        sender.setblocking(False)
        sender.sendto(sign.encode(), address)


def pause() -> float | None:
    """Return the seconds between two heartbeats of this process. None without a watchdog."""
    microseconds, process = os.environ.get("WATCHDOG_USEC"), os.environ.get("WATCHDOG_PID")
    if microseconds is None or process not in (None, str(os.getpid())):
        return None
    return int(microseconds) / 1e6 / 4


@contextmanager
def given(lives: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Send heartbeats from a separate thread while `lives` returns true."""
    seconds, ended = pause(), threading.Event()

    def give() -> None:
        while True:
            if lives():
                notify(LIVES)
            if ended.wait(seconds):
                return

    thread = threading.Thread(target=give, name="heartbeats", daemon=True)
    if seconds is not None:
        thread.start()
    try:
        yield
    finally:
        ended.set()
