"""Signs of life, as systemd's sd_notify sends them: the parts of the service to its supervisor, and that to systemd.

Who is to be watched finds in NOTIFY_SOCKET where to send them, and in WATCHDOG_USEC after how many microseconds without
one it counts as hung. Where these are not set, nothing is sent.
"""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LIVES, READY, STOPPING = "WATCHDOG=1", "READY=1", "STOPPING=1"


def notify(sign: str) -> None:
    """Send a sign. Nobody waits for it to be heard."""
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):  # the watcher hangs, or is gone
        sender.setblocking(False)
        sender.sendto(sign.encode(), address)


def pause() -> float | None:
    """Return how many seconds may lie between two signs of this process; None where nobody waits for any."""
    microseconds, process = os.environ.get("WATCHDOG_USEC"), os.environ.get("WATCHDOG_PID")
    if microseconds is None or process not in (None, str(os.getpid())):
        return None
    return int(microseconds) / 1e6 / 4


@contextmanager
def given(lives: Callable[[], bool] = lambda: True) -> Iterator[None]:
    """Give signs of life from a thread of its own, as long as `lives` says so."""
    seconds, ended = pause(), threading.Event()

    def give() -> None:
        while True:
            if lives():
                notify(LIVES)
            if ended.wait(seconds):
                return

    thread = threading.Thread(target=give, name="signs", daemon=True)
    if seconds is not None:
        thread.start()
    try:
        yield
    finally:
        ended.set()
