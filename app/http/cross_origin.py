"""CORS: pages of other sites may read addresses that need no key."""

from collections.abc import Sequence
from typing import Any

from app.http.request_ids import HEADER

ASKED = ("If-None-Match", HEADER)
EXPOSED_HEADERS = ("Content-Disposition", "ETag", "Link", "RateLimit", "RateLimit-Policy", "Retry-After", HEADER)


def cross_origin(origins: Sequence[str]) -> dict[str, Any]:
    """Return the options of the CORS middleware: reading from these origins, never with cookies or a key."""
    return {
        "allow_origins": list(origins),
        "allow_methods": ["GET", "HEAD"],
        "allow_headers": list(ASKED),
        "expose_headers": list(EXPOSED_HEADERS),
        "allow_credentials": False,
    }
