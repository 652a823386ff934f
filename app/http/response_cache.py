"""Cache of rendered responses by entity tag; an entry never goes stale."""

from threading import Lock

from cachetools import LRUCache

MAX_BYTES = 64 * 1024 * 1024


class ResponseCache:
    """A least-recently-used cache of answers, limited in bytes and thread-safe."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._bodies: LRUCache[str, bytes] = LRUCache(max_bytes, getsizeof=len)
        self._lock = Lock()

    def get(self, tag: str) -> bytes | None:
        with self._lock:
            return self._bodies.get(tag)

    def put(self, tag: str, body: bytes) -> None:
        """Store an answer, evicting the least recently used; larger ones than the cache are skipped."""
        with self._lock:
            if len(body) <= self._bodies.maxsize:
                self._bodies[tag] = body
