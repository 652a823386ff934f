"""Conditional GET: cache lifetimes, and the cache of rendered responses."""

from threading import Lock
from typing import Annotated, Any

from cachetools import LRUCache
from fastapi import Depends, Header, Response

FOR_EVER = "public, max-age=31536000, immutable"
SHORTLY = "public, max-age=60"
PRIVATE = "private, max-age=60"
ASK_FIRST = "private, no-cache"
ASK_ALWAYS = "public, no-cache"
NO_STORE = "no-store"
NOT_MODIFIED: dict[int | str, dict[str, Any]] = {304: {"description": "The copy that you hold is still the same."}}

IfNoneMatch = Annotated[
    str | None, Header(description="The ETag of a copy that you hold; the answer is 304 where it is still the same.")
]


def cached(cache_control: str) -> Any:
    """Return a dependency that sets the Cache-Control header of an answer without an entity tag."""

    async def set_header(response: Response) -> None:
        response.headers["Cache-Control"] = cache_control

    return Depends(set_header)


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
