"""Calls a function again and again from a thread of its own."""

import threading
from collections.abc import Callable
from typing import Self


class Repeated:
    """Calls a function at intervals during a `with` block.

    Args:
        name: of the thread.
        call: returns the seconds until the next call; None for no more calls.
        first: seconds until the first call.
    """

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
