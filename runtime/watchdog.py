"""Heartbeats by systemd's sd_notify: from the service's parts to the supervisor, and from it to systemd; and the parts
that are being restarted: a file in the data folder, from the supervisor to the API.

NOTIFY_SOCKET names the address to send heartbeats to, and WATCHDOG_USEC the microseconds without one after which the
process counts as hung. If these are not set, nothing is sent.
"""

import asyncio
import os
import socket
import struct
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter

from runtime import stored_files

LIVES, READY, STOPPING = "WATCHDOG=1", "READY=1", "STOPPING=1"
_CREDENTIALS = struct.Struct("3i")  # process, user, group: the kernel fills them in
_MAX_SIGN = 4096  # bytes


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


def given(lives: Callable[[], bool] = lambda: True) -> AbstractContextManager[object]:
    """Send heartbeats from a separate thread while `lives` returns true; nothing without a watchdog."""
    seconds = pause()

    def give() -> float | None:
        if lives():
            notify(LIVES)
        return seconds

    return nullcontext() if seconds is None else Repeated("heartbeats", give)


async def give_from_event_loop() -> None:
    """Send heartbeats of the event loop until cancelled; nothing without a watchdog."""
    seconds = pause()
    while seconds is not None:
        notify(LIVES)
        await asyncio.sleep(seconds)


class WatchdogSocket:
    """Receives heartbeats on a socket without a file, closed with this process; `address` is for NOTIFY_SOCKET."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self._socket.bind("")  # the kernel finds a name
        self._socket.setblocking(False)
        self.address = "@" + self._socket.getsockname()[1:].decode()

    def received_pids(self) -> set[int]:
        """Return the ids of the processes that sent a heartbeat since the last call."""
        processes: set[int] = set()
        while True:
            try:
                _, ancillary, *_ = self._socket.recvmsg(_MAX_SIGN, socket.CMSG_SPACE(_CREDENTIALS.size))
            except BlockingIOError:
                return processes
            for level, kind, content in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS):
                    processes.add(_CREDENTIALS.unpack(content)[0])

    def close(self) -> None:
        self._socket.close()


class Repeated:
    """Calls a function after `first` seconds, then after those it returns, until None or the `with` block's end."""

    def __init__(self, name: str, call: Callable[[], float | None], first: float = 0.0) -> None:
        self._call, self._first = call, first
        self._wake, self._ended = threading.Event(), False
        self._thread = threading.Thread(target=self._repeat, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self._wake.set()
        self._thread.join()

    def call_now(self) -> None:
        """Call the function without waiting for the end of the interval."""
        self._wake.set()

    def _repeat(self) -> None:
        seconds: float | None = self._first
        while seconds is not None:
            self._wake.wait(seconds)
            self._wake.clear()
            if self._ended:
                return
            seconds = self._call()


@dataclass(frozen=True, slots=True)
class Restart:
    """A part of the service that is silent, has not come back after it ended, or ends again and again.

    Attributes:
        cause: how it last ended, or that it is silent, as the end of a sentence.
        times: how often it has ended; 0 if it is silent.
    """

    part: str
    cause: str
    times: int
    since: datetime


@dataclass(frozen=True, slots=True)
class _RestartFile:
    supervisor: int
    restarts: list[Restart]


_FILE = TypeAdapter(_RestartFile)


def store_restarts(data: Path, restarts: list[Restart]) -> None:
    """Replace the restarts that this process has written."""
    stored_files.replace_file(_file(data), _FILE.dump_json(_RestartFile(os.getpid(), restarts)), stored_files.FILE)


def load_restarts(data: Path, supervisor: int) -> list[Restart]:
    """Return the restarts that a supervisor wrote last. Empty if it wrote none."""
    try:
        written = _FILE.validate_json(_file(data).read_bytes())
    except FileNotFoundError:
        return []
    return written.restarts if written.supervisor == supervisor else []


def _file(data: Path) -> Path:
    return data / "restarts.json"
