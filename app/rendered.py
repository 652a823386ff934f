"""Answers that are bytes already. An entity tag names one wholly, so what is kept under it never goes stale."""

from collections import OrderedDict
from threading import Lock

MOST_BYTES = 64 * 1024 * 1024


class Rendered:
    """The answers given last, up to a number of bytes."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._held = most_bytes, 0
        self._bodies: OrderedDict[str, bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, tag: str) -> bytes | None:
        """Return the answer of a tag, or None."""
        with self._lock:
            body = self._bodies.get(tag)
            if body is not None:
                self._bodies.move_to_end(tag)
            return body

    def keep(self, tag: str, body: bytes) -> None:
        """Keep an answer, and let go of those that nobody asked for longest."""
        with self._lock:
            if tag not in self._bodies:
                self._held += len(body)
            self._bodies[tag] = body
            while self._held > self._most and self._bodies:
                _, dropped = self._bodies.popitem(last=False)
                self._held -= len(dropped)
