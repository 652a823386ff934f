"""Answers that are bytes already. An entity tag names one wholly, so what is kept under it never goes stale."""

from threading import Lock

from cachetools import LRUCache

MAX_BYTES = 64 * 1024 * 1024


class ResponseCache:
    """The answers that were asked for last, up to a number of bytes; safe to use from several threads."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._bodies: LRUCache[str, bytes] = LRUCache(max_bytes, getsizeof=len)
        self._lock = Lock()

    def get(self, tag: str) -> bytes | None:
        """Return the answer of a tag, or None."""
        with self._lock:
            return self._bodies.get(tag)

    def put(self, tag: str, body: bytes) -> None:
        """Keep an answer in place of those that nobody asked for longest, unless it is larger than all together."""
        with self._lock:
            if len(body) <= self._bodies.maxsize:
                self._bodies[tag] = body
